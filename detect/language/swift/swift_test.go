package swift

import (
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
)

func TestApps(t *testing.T) { analyzertest.Apps(t, definition) }

func TestLayouts(t *testing.T) { analyzertest.Layouts(t, definition, grammar.Read, ".swift") }

func TestRepetitiveSources(t *testing.T) {
	analyzertest.Repetitive(t, definition, analyzertest.Repetition{
		Path: "Sources/a/a.swift", Head: "import GRPCCore\nGRPCServer(transport: t)\n",
		Units: []string{
			"let A = A + A\n", "import A\n", "func a() -> Int { A }\n", "struct A { let A = A }\n", "{", "(",
			"let s = Server.insecure(group: g).bind(host: \"a\", port: A)\n", "A = A\n",
			"GRPCServer(transport:", "class A: ServiceProtocol ", "\"\\(GRPC",
			"var a = a\nGRPCServer(transport: address: .ipv4(port: a", "#\"GRPC",
			"address: .ipv4(a), transportSecurity: a, ", "if a {\n  Server.usingTLS(with: a)\n}\n",
			"struct A {\n  let port: Int\n", "init(port: Int", "func a(port: Int = 50051) {\n",
			"A(port: 50051", "A(a(port: ", "@Option(name: .short) var a: Int = 50051\n", "@Option(", "@Option ",
			"class A { var port = a.port\n", "self.port = a.port\n", "if let port = a.port { ", "enum A {",
			"struct A { var port: Int = 1\nself.port = port\n", "a.port = a\n", "Health(",
			"class A: Grpc_Health_V1_HealthProvider {",
		},
	})
}

func FuzzSource(f *testing.F) {
	analyzertest.FuzzSource(f, definition, "Sources/a/a.swift",
		"import GRPCCore\nvar port: Int = 1\n"+
			"GRPCServer(transport: .http2NIOPosix(address: .ipv4(host: \"a\", port: self.port)))\n",
		"import GRPC\nServer.Configuration(target: .hostAndPort(\"a\", 1)) Server.start(configuration: x) "+
			"#\"\\(\"# \"\"\"\n\\(x(\")\"))\"\"\"\n",
		"struct A: B.ServiceProtocol { ServerContext } Server.insecure(group: g).bind(host: h, port: \"\\(port)\")")
}
