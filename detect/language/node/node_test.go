package node

import (
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
)

func TestApps(t *testing.T) { analyzertest.Apps(t, definition) }

func TestLayouts(t *testing.T) {
	analyzertest.Layouts(t, definition, grammar.Read, ".js", ".ts")
}

func TestRepetitiveSources(t *testing.T) {
	analyzertest.Repetitive(t, definition, analyzertest.Repetition{
		Path: "a.js",
		Head: "import x from '@grpc/grpc-js'; import c from '@connectrpc/connect-node'; import h from 'http2'; " +
			"h.createServer(c.connectNodeAdapter());",
		Units: []string{
			"var A = A + A;\n", "const {A} = require(\"./a\");\n", "import A from \"a\";\n",
			"function a() { return A; }\n", "class A { a() { return A; } }\n", "A = process.env.A || A;\n",
			"[", "{", "const s = new grpc.Server(); s.bindAsync(A, b);\n", "var A = A, ",
			"=/[", "`${", "(", "{a:", "createMicroservice(", ".bindAsync(a,", "new grpc.Server(", "import a from ",
			"url:", "a\\", "/*", ".listen(x", "const x=x+", "const x=x;", "Transport.GRPC ", ")/a", "a.", "<",
			"@Client(", "new DaprServer(CommunicationProtocolEnum.GRPC,", "{a}=b;", "addService(a.service,",
			".option('a', '", "new Option('-a', { default: ", "a: { default: 5000 }, ", "a: z.default(",
			"{ A = 5 } = process.env\n", "createMicroservice(a, a.b)\n", "transport: Transport.GRPC, options }\n",
			"grpcServer: {", "url, ",
			"x.addService(a.service,b);", "createMicroservice(Transport.GRPC)", "@Client()Transport.GRPC ",
		},
	})
}

func FuzzManifest(f *testing.F) {
	analyzertest.FuzzSource(f, definition, "package.json",
		`{"name": "a", "bin": {"a": "b.js"}, "scripts": {"start": "nest start a"}}`)
}

func FuzzSource(f *testing.F) {
	analyzertest.FuzzSource(f, definition, "a.ts",
		"const grpc = require('@grpc/grpc-js')\nconst s = new grpc.Server()\n"+
			"s.bindAsync(`[::]:${PORT || 1}`, c.createInsecure(), f)\n",
		"import { Transport } from '@nestjs/microservices'\n"+
			"createMicroservice(A, { transport: Transport.GRPC, options: { url: 'a:' + (b) } })\n",
		"import { a as b } from 'nice-grpc'; const x = /[/]`/, y = a / b; `${`${1}`}`; x.listen({ port, host })\n",
		"import { connectNodeAdapter } from '@connectrpc/connect-node'; "+
			"http2.createServer(connectNodeAdapter({})).listen(1",
		"new DaprServer({ serverPort: p, communicationProtocol: CommunicationProtocolEnum.GRPC }); const p = p + p;")
}
