package detect

import (
	"bytes"
	"testing"
)

func FuzzDotnetSource(f *testing.F) {
	f.Add(byte(0), []byte("using Grpc.Core;\nvar s = new Server { Ports = { new ServerPort(\"a\", Port, c) } };\nconst int Port = 5;\n"))
	f.Add(byte(0), []byte("app.MapGrpcService<T>(); var a = $$\"\"\"{{x}}\"\"\"; o.Listen(IPAddress.Any, $\"{p}\" + 5); p = p; app.Run($@\"{a[\"\"]}\");"))
	f.Add(byte(1), []byte("open Saturn\n(* (* *) (*) 'a' \"\"\" use_grpc\nuse_grpc A\ninherit Greeter.GreeterBase()"))
	f.Add(byte(2), []byte("Imports Grpc.Core ' \"\nDim s = New Server With { .Services = { X.BindService(New X()) } }\nendpoints.MapGrpcService(Of X)()"))
	f.Fuzz(func(t *testing.T, which byte, text []byte) {
		checkSheet(t, dotnetSource([]string{".cs", ".fs", ".vb"}[which%3], text), text)
	})
}

func FuzzDotnetFiles(f *testing.F) {
	f.Add([]byte(`{"urls": "http://*:5000;https://*", /* */ "Kestrel": {"Endpoints": {"A": {"Url": "x", "Protocols": "Http2"},}}} // `))
	f.Add([]byte(`<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType> Exe</OutputType></PropertyGroup><ItemGroup><PackageReference Include="xunit"/></ItemGroup></Project>`))
	f.Fuzz(func(t *testing.T, text []byte) {
		settings, err := dotnetSettingsFile(text)
		if err != nil && settings != nil {
			t.Errorf("settings that are left out say %v", settings)
		}
		project, _ := dotnetProjectFile(text)
		if !project.root {
			t.Error("a project file is no project's")
		}
	})
}

// checkSheet holds what a source says against its length.
func checkSheet(t *testing.T, said *sheet, text []byte) {
	t.Helper()
	if said == nil {
		return
	}
	lines := bytes.Count(text, []byte("\n")) + 1
	for _, s := range said.signs {
		if s.line < 0 || s.line > lines || s.line == 0 && s.what != "" {
			t.Errorf("sign %+v in a file of %d lines", s, lines)
		}
		if s.port < noPort || s.port > 65535 {
			t.Errorf("port %d", s.port)
		}
	}
}
