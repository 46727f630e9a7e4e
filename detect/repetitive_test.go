//go:build !race

package detect

import (
	"strings"
	"testing"
)

// readers read a source of their language.
var readers = map[string]func(text []byte){
	"cpp":    func(text []byte) { cppSource(text) },
	"csharp": func(text []byte) { dotnetSource(".cs", text) },
	"dart":   func(text []byte) { dartSource(text) },
	"elixir": func(text []byte) { elixirSource(text) },
	"fsharp": func(text []byte) { dotnetSource(".fs", text) },
	"java":   func(text []byte) { jvmSource(".java", text) },
	"kotlin": func(text []byte) { jvmSource(".kt", text) },
	"node":   func(text []byte) { nodeSource(text) },
	"php":    func(text []byte) { phpSource(text) },
	"python": func(text []byte) { pythonSource(text) },
	"ruby":   func(text []byte) { rubySource(text); rubyStubs(text) },
	"scala":  func(text []byte) { jvmSource(".scala", text) },
	"rust":   func(text []byte) { rustSource("a.rs", text) },
	"swift":  func(text []byte) { swiftSource(text) },
}

// Sources made to take long: after what makes their reader look, one thing over and over. A reader whose time grew with
// the square of the length would run into the time limit of go test with what they are together. The race detector, which
// has nothing to find in them, makes them twenty times slower.
func TestRepetitiveSourcesAreReadToTheirEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		language, head string
		units          []string
	}{
		{"cpp", "#include \"a.grpc.pb.h\"\nServerBuilder b; b.AddListeningPort(a, c); b.BuildAndStart();\n",
			[]string{"b.AddListeningPort(", "a = a;", "x a(", "b.AddListeningPort(a + b, ", "class A : public B::Service {", "#if 0\n", "R\"x("}},
		{"csharp", "using Grpc.Core; new Server { Ports = { new ServerPort(\"\", a, b) } };\n",
			[]string{"o.Listen(", "a = a;", "app.Run(a + ", "new ServerPort(a, b", "class A : B.BBase", "$\"{", "\"\"\""}},
		{"dart", "import 'package:grpc/grpc.dart'; Server.create(services: []);\n",
			[]string{"Server.create(", "a.serve(port: a,Server.create([ ", "'${Server.create", "extends AServiceBase ServiceCall ", "final a = a;b.serve(port:a)"}},
		{"elixir", "use GRPC.Endpoint\n", []string{"GRPC.Server.Supervisor,", "x = x\n GRPC.Server.start(a, x)\n", "~s(GRPC.#{",
			"config :grpcbox,servers:[%{grpc_opts", "\"#{GRPC."}},
		{"fsharp", "open Saturn\nopen Grpc.Core\n", []string{"(*", "use_grpc A\n", "inherit A.ABase()", "a = a\n"}},
		{"java", "import io.grpc.ServerBuilder; import akka.http.X; class A { Object s = ServerBuilder.forPort(a); }\n",
			[]string{"ServerBuilder.forPort(", "int a = a;", "class A extends BGrpc.BImplBase {", "@GrpcService ", "\"\"\"", "import a.b.c;", "/*", "a.b.c.D.", "AHandler("}},
		{"kotlin", "import io.grpc.ServerBuilder\nval s = ServerBuilder.forPort(a)\n",
			[]string{"ServerBuilder.forPort(", "val a = a\n", "class A : BGrpcKt.BCoroutineImplBase() {", "\"${", "/*"}},
		{"scala", "import io.grpc.ServerBuilder\nval s = ServerBuilder.forPort(a)\n",
			[]string{"ServerBuilder.forPort(", "val a = a\n", "AGrpc.bindService(", "s\"${", "extends AbstractARouter ", "import a.{b,"}},
		{"node", "import x from '@grpc/grpc-js'; import c from '@connectrpc/connect-node'; import h from 'http2'; " +
			"h.createServer(c.connectNodeAdapter());", []string{"=/[", "`${", "(", "{a:", "createMicroservice(", ".bindAsync(a,", "new grpc.Server(",
			"import a from ", "url:", "a\\", "/*", ".listen(x", "const x=x+", "const x=x;", "Transport.GRPC ", ")/a", "a.", "<", "@Client(",
			"new DaprServer(CommunicationProtocolEnum.GRPC,", "{a}=b;", "addService(a.service,", "x.addService(a.service,b);"}},
		{"php", "<?php grpc; ", []string{"[Server::class,'x'", "<<<A\n", "a\\", "/*", "\\Hyperf\\GrpcServer\\Server::class,'a'", "function a(A $b,",
			"(", "{a:"}},
		{"python", "import grpc\ns.add_insecure_port(b)\n", []string{"from a import (\nfrom grpc import c\n", "class A(\nclass B(grpc.C)\n",
			"def a(b=1\na()\n", "s.add_insecure_port(a)\n", "a = f'" + strings.Repeat("{a}", 80) + "'\n", "grpc.b.c ", "p.add_argument('--a', "}},
		{"ruby", "GRPC\n", []string{"class A<B::Service\n", "<<~A\n<<~B\n", "%w( /a?\" ", "AnyCable.configure rpc_host\n", "module A\n# b\n", "s.add_http2_port(a\n", "a = a\n"}},
		{"rust", "use tonic::transport::Server; Server::builder().serve(a);\n", []string{"tonic #[cfg(test)] ", "#[test]tonic",
			"use tonic::*;a::b::new ", "use tonic::{{{", "impl a::x_server::X for Request<", "impl a::x_server::X for S {}\n", "let x=x;.serve(x)tonic::transport::Server::builder ",
			"/*tonic", "r#\"tonic", "tonic::transport::Server::builder().serve(", "'tonic"}},
		{"swift", "import GRPCCore\nGRPCServer(transport: t)\n", []string{"GRPCServer(transport:", "class A: ServiceProtocol ", "\"\\(GRPC",
			"var a = a\nGRPCServer(transport: address: .ipv4(port: a", "#\"GRPC"}},
	} {
		for _, unit := range c.units {
			readers[c.language]([]byte(c.head + strings.Repeat(unit, maxSourceBytes/4/len(unit))))
		}
	}
}
