package detect

import "testing"

func FuzzSwiftSource(f *testing.F) {
	f.Add([]byte("import GRPCCore\nvar port: Int = 1\nGRPCServer(transport: .http2NIOPosix(address: .ipv4(host: \"a\", port: self.port)))\n"))
	f.Add([]byte("import GRPC\nServer.Configuration(target: .hostAndPort(\"a\", 1)) Server.start(configuration: x) #\"\\(\"# \"\"\"\n\\(x(\")\"))\"\"\"\n"))
	f.Add([]byte("struct A: B.ServiceProtocol { ServerContext } Server.insecure(group: g).bind(host: h, port: \"\\(port)\")"))
	f.Fuzz(func(t *testing.T, text []byte) { checkSigns(t, text, swiftSource(text)) })
}
