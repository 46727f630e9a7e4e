package cpp

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

func TestApps(t *testing.T) { analyzertest.Apps(t, definition) }

func TestLayouts(t *testing.T) {
	analyzertest.Layouts(t, definition, grammar.Read, ".cc", ".cpp", ".h")
}

func TestRepetitiveSources(t *testing.T) {
	analyzertest.Repetitive(t, definition, analyzertest.Repetition{
		Path: "src/a.cc",
		Head: "#include \"a.grpc.pb.h\"\nServerBuilder b; b.AddListeningPort(a, c); b.BuildAndStart();\n",
		Units: []string{
			"const int A = A + A;\n", "#define A A\n", "int A() { return A; }\n",
			"struct A { int port = A; };\n", "{", "(",
			"grpc::ServerBuilder b; b.AddListeningPort(A, c); b.BuildAndStart();\n", "A = A;\n", "#if A\n",
			"b.AddListeningPort(", "a = a;", "x a(", "b.AddListeningPort(a + b, ", "class A : public B::Service {",
			"#if 0\n", "R\"x(", "struct A { int port = 50051; };\n", "int port() { return 50051; }\n",
			"void a(int port) {\n  a(50051);\n}\n", "const int kPort = 50051;\n", "int port(",
			"value<int>(&a.port)->default_value(1",
			"(\"a\", value<int>(&a.port)",
			"(\"port,p\", value<int>()->default_value(1), \"\")", "DECLARE_int32(port)\n", "class A : public B {",
			"a.AddListeningPort(a, a);a.BuildAndStart();", "auto a = InsecureServerCredentials();a.a = a;",
			"if (a) {\n  a.AddListeningPort(a, a);\n}\n", "class A { A(int port) : port_(port) {}\n",
			"int main() {\n  A port(50051); make_unique<A>(50051); A port{",
			"A::A(int port) : a{", "  explicit A(int port)\n",
			"A a;\na.port = a;\n", "A{.port = 1}", "port_ = port;", "a(a(port,",
		},
	})
}

func FuzzSource(f *testing.F) {
	analyzertest.FuzzSource(f, definition, "a.cc",
		"#include \"a.grpc.pb.h\"\n#if 0\n#else\nbuilder.AddListeningPort(\"0.0.0.0:\" + p, c); p(p + p);\n#endif\n"+
			"b.BuildAndStart();",
		"// ServerBuilder \\\nR\"x()\" )x\" '\\'' 1'0 u8'a' ServerBuilder b; b->RegisterService(&s); "+
			"StrFormat(\"%d{}\", x)",
		"DEFINE_int32(port, 5, \"\");b.AddListeningPort(absl::StrFormat(\"%d\", FLAGS_port), c);"+
			"class A : public B::Service {")
}

func FuzzStaticConfig(f *testing.F) {
	f.Add([]byte("components_manager:\n  components:\n    grpc-server:\n      port: 8091\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if result, _ := analyzeStaticConfig(text); result != nil {
			analyzertest.CheckPlaces(t, text, result.Findings)
		}
	})
}

func FuzzProgram(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Fuzz(func(t *testing.T, program []byte) {
		r := tree.LimitReaderAt(bytes.NewReader(program), tree.MaxProgram)
		if result, err := tree.RecoverRead(r, readProgram); err != nil && result != nil {
			t.Errorf("a program that is left out (%v) has the result %v", err, result)
		}
	})
}

func TestProgramsOfCMake(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"CMakeLists.txt":     "project(shop)\nadd_subdirectory(src)\n# add_executable(old src/main.cc)\n",
		"src/CMakeLists.txt": "add_executable(stock_server\n  main.cc stock.cc)\n",
		"src/main.cc":        "int main() { builder.BuildAndStart()->Wait(); }\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	servers := analyzertest.Scan(t, Analyzer, dir)
	if len(servers) != 1 || !slices.Equal(servers[0].Programs, []string{"src/stock_server"}) {
		t.Errorf("found %+v", servers)
	}
}
