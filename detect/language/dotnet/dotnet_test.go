package dotnet

import (
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

func TestApps(t *testing.T) { analyzertest.Apps(t, definition) }

func TestLayouts(t *testing.T) {
	analyzertest.Layouts(t, definition, grammars[".cs"].Read, ".cs")
}

func TestRepetitiveSources(t *testing.T) {
	analyzertest.Repetitive(t, definition,
		analyzertest.Repetition{
			Path: "A.cs",
			Head: "using Grpc.Core; new Server { Ports = { new ServerPort(\"\", a, b) } };\n",
			Units: []string{
				"const int A = A + A;\n", "using A;\n", "int A() { return A; }\n", "class A { int A = A; }\n",
				"(", "new Server { Ports = { new ServerPort(\"\", A, ServerCredentials.Insecure) } };\n",
				"A = A;\n", "int A { get; set; } = A;\n",
				"o.Listen(", "a = a;", "app.Run(a + ", "new ServerPort(a, b", "class A : B.BBase", "$\"{", "\"\"\"",
				"public int Port { get; set; } = 50051;\n", "public static int Port() => 50051;\n", "public int a(",
				"static void A(int port)\n{\n  A(50051);\n}\n", "const int Port = 50051;\n",
				"int Port { return 50051; ", "public A(int port) { _port = port; }\n", "new A(50051, ",
				"class A { public A(int port", "a.Port = a; ", "new A { Port = a, ", "new A { Port = a }; ",
				"public int port = 80;\n", "class AServer { new Server(", "new AServer(", "AddOptions<A>().",
				"a.Bind(a)", "Deserialize<A>(", "class AHealth ", "app.MapAGrpcHealth(",
			},
		},
		analyzertest.Repetition{
			Path:  "A.fs",
			Head:  "open Saturn\nopen Grpc.Core\n",
			Units: []string{"(*", "use_grpc A\n", "inherit A.ABase()", "a = a\n"},
		},
		analyzertest.Repetition{
			Path:  "A.vb",
			Head:  "Imports Grpc.Core\nDim s = New Server With { .Ports = { New ServerPort(\"\", a, b) } }\n",
			Units: []string{"o.MapGrpcService(Of ", "Dim a As Integer = a\n", "Class A Inherits B.BBase\n", "\"\""},
		},
	)
}

// FuzzSource fuzzes sources in the three languages, of which a byte chooses one.
func FuzzSource(f *testing.F) {
	f.Add(byte(0), []byte("using Grpc.Core;\nvar s = new Server { Ports = { new ServerPort(\"a\", Port, c) } };\n"+
		"const int Port = 5;\n"))
	f.Add(byte(0), []byte("app.MapGrpcService<T>(); var a = $$\"\"\"{{x}}\"\"\"; "+
		"o.Listen(IPAddress.Any, $\"{p}\" + 5); p = p; app.Run($@\"{a[\"\"]}\");"))
	f.Add(byte(1), []byte("open Saturn\n(* (* *) (*) 'a' \"\"\" use_grpc\nuse_grpc A\ninherit Greeter.GreeterBase()"))
	f.Add(byte(2), []byte("Imports Grpc.Core ' \"\n"+
		"Dim s = New Server With { .Services = { X.BindService(New X()) } }\nendpoints.MapGrpcService(Of X)()"))
	f.Fuzz(func(t *testing.T, which byte, text []byte) {
		path := []string{"A.cs", "A.fs", "A.vb"}[which%3]
		result, err := analyze(tree.NewText(path, text))
		if err != nil {
			t.Errorf("a source is left out: %v", err)
		}
		if result != nil {
			analyzertest.CheckPlaces(t, text, result.Findings)
		}
	})
}

// FuzzFiles fuzzes settings and project files.
func FuzzFiles(f *testing.F) {
	f.Add([]byte(`{"urls": "http://*:5000;https://*", /* */ ` +
		`"Kestrel": {"Endpoints": {"A": {"Url": "x", "Protocols": "Http2"},}}} // `))
	f.Add([]byte(`<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType> Exe</OutputType></PropertyGroup>` +
		`<ItemGroup><PackageReference Include="xunit"/></ItemGroup></Project>`))
	f.Fuzz(func(t *testing.T, text []byte) {
		settings, err := analyzeSettings("appsettings.json", text)
		if err != nil && settings != nil {
			t.Errorf("settings that are left out (%v) have the result %v", err, settings)
		}
		if settings != nil {
			analyzertest.CheckPlaces(t, text, settings.Findings)
		}
		project, _ := analyzeProject(text)
		if !project.ProjectRoot {
			t.Error("a project file is not the root of a project")
		}
	})
}
