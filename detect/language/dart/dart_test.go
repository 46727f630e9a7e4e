package dart

import (
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
)

func TestApps(t *testing.T) { analyzertest.Apps(t, definition) }

func TestLayouts(t *testing.T) { analyzertest.Layouts(t, definition, grammar.Read, ".dart") }

func TestRepetitiveSources(t *testing.T) {
	analyzertest.Repetitive(t, definition, analyzertest.Repetition{
		Path: "bin/a.dart", Head: "import 'package:grpc/grpc.dart'; Server.create(services: []);\n",
		Units: []string{
			"const A = A + A;\n", "import 'a';\n", "int a() => A;\n", "class A { int A = A; }\n", "{", "(",
			"var s = Server.create(services: []); s.serve(port: A);\n", "A = A;\n",
			"Server.create(", "a.serve(port: a,Server.create([ ", "'${Server.create",
			"extends AServiceBase ServiceCall ",
			"final a = a;b.serve(port:a)", "a.serve(port: 1, security: a);final a = a;", "a!! ",
			"class A {\n  A(this.port = 50051);\n", "void a({int port = 1}) {\n  A(50051);\n",
			"A({A(port, ", "..addOption('a', ", "..addOption('a', abbr: 'b', defaultsTo: '1')",
			"HealthService(), ", "class Health extends HealthServiceBase {",
		},
	})
}

func FuzzSource(f *testing.F) {
	analyzertest.FuzzSource(f, definition, "a.dart",
		"import 'package:grpc/grpc.dart';\nfinal port = 1;\nfinal s = Server.create(services: []);\ns.serve(port: "+
			"port);\n",
		"class A extends BServiceBase { f(ServiceCall c) => r'\\' + '''${x('}')}''' /* /* */ */; }\n")
}
