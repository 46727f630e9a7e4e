package dotnet

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
)

// What an assembly calls is named in its #Strings heap, between NUL bytes.
func TestPublishFoldersGiveTheirServices(t *testing.T) {
	t.Parallel()
	aspNetCore := dependencyList("Grpc.AspNetCore.Server/2.60.0")
	for name, c := range map[string]struct {
		deps  string
		calls []string
		want  string
	}{
		"server": {
			aspNetCore,
			[]string{"MapGrpcService"},
			"C#, Grpc.AspNetCore (App.deps.json); health service not registered; port 5001, " +
				"appsettings.json:1; plaintext, appsettings.json:1\n",
		},
		"healthy": {
			aspNetCore,
			[]string{"MapGrpcService", "MapGrpcHealthChecksService"},
			"C#, Grpc.AspNetCore (App.deps.json); health service registered (App.deps.json); port 5001, " +
				"appsettings.json:1; plaintext, appsettings.json:1\n",
		},
		"F#": {
			strings.Replace(aspNetCore, `"Grpc`, `"FSharp.Core": "9.0.0", "Grpc`, 1),
			[]string{"MapGrpcService"},
			"F#, Grpc.AspNetCore (App.deps.json); health service not registered; port 5001, " +
				"appsettings.json:1; plaintext, appsettings.json:1\n",
		},
		"code first": {
			aspNetCore,
			[]string{"AddCodeFirstGrpc", "MapGrpcService"},
			"C#, protobuf-net.Grpc (App.deps.json); health service not registered; port 5001, " +
				"appsettings.json:1; plaintext, appsettings.json:1\n",
		},
		"Grpc.Core": {
			dependencyList("Grpc.Core/2.46.0"),
			[]string{"Grpc.Core", "ServerPort"},
			"C#, Grpc.Core (App.deps.json); health service not registered; port not known; " +
				"TLS or plaintext not known\n",
		},
		"client":      {dependencyList("Grpc.Net.Client/2.60.0"), []string{"GrpcChannel", "ServerPort"}, ""},
		"only linked": {aspNetCore, []string{"GrpcChannel", "TryMapGrpcServices"}, ""},
		"test": {
			dependencyList("Grpc.AspNetCore.Server/2.60.0", "xunit.core/2.9.0"),
			[]string{"MapGrpcService"},
			"",
		},
		"damaged":      {`{"targets": [`, []string{"MapGrpcService"}, ""},
		"out of place": {strings.ReplaceAll(aspNetCore, "App.dll", "../App.dll"), []string{"GrpcChannel"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "App.deps.json"), c.deps)
			write(t, filepath.Join(dir, "App.dll"), "MZ\x00\x00"+strings.Join(c.calls, "\x00")+"\x00")
			write(t, filepath.Join(dir, "Grpc.AspNetCore.Server.dll"), "MZ\x00MapGrpcService\x00")
			write(t, filepath.Join(dir, "appsettings.json"),
				`{"Kestrel": {"Endpoints": {"Http": {"Url": "http://+:5001"}}}}`)
			if got := analyzertest.Describe(analyzertest.Scan(t, Analyzer, dir)); got != c.want {
				t.Errorf("found:\n%swant:\n%s", got, c.want)
			}
		})
	}
}

// A publish folder that is built from sources which make a server is no service beside theirs.
func TestSourcesLeadBeforePublishFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "Shop/Program.cs"), "app.MapGrpcService<ShopService>();\n")
	publish := filepath.Join(dir, "Shop/bin/Release/net8.0/publish")
	write(t, filepath.Join(publish, "App.deps.json"), dependencyList("Grpc.AspNetCore.Server/2.60.0"))
	write(t, filepath.Join(publish, "App.dll"), "\x00MapGrpcService\x00")
	want := "C#, Grpc.AspNetCore (Shop/Program.cs:1); health service not registered; port not known; " +
		"TLS or plaintext not known, Shop/Program.cs:1\n"
	if got := analyzertest.Describe(analyzertest.Scan(t, Analyzer, dir)); got != want {
		t.Errorf("found:\n%swant:\n%s", got, want)
	}
}

// dependencyList is the *.deps.json of a program App with packages, as the SDK writes it.
func dependencyList(packages ...string) string {
	var needs, libraries []string
	for _, p := range packages {
		name, version, _ := strings.Cut(p, "/")
		needs = append(needs, fmt.Sprintf("%q: %q", name, version))
		libraries = append(libraries, fmt.Sprintf(`%q: {"type": "package"}`, p))
	}
	return fmt.Sprintf("\xef\xbb\xbf"+`{
		"targets": {".NETCoreApp,Version=v8.0": {"App/1.0.0": {"dependencies": {%s}, "runtime": {"App.dll": {}}}}},
		"libraries": {"App/1.0.0": {"type": "project"}, %s}}`, strings.Join(needs, ", "), strings.Join(libraries, ", "))
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
