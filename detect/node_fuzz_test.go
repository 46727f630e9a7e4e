package detect

import (
	"bytes"
	"testing"
)

func FuzzNodeSource(f *testing.F) {
	f.Add([]byte("const grpc = require('@grpc/grpc-js')\nconst s = new grpc.Server()\ns.bindAsync(`[::]:${PORT || 1}`, c.createInsecure(), f)\n"))
	f.Add([]byte("import { Transport } from '@nestjs/microservices'\ncreateMicroservice(A, { transport: Transport.GRPC, options: { url: 'a:' + (b) } })\n"))
	f.Add([]byte("import { a as b } from 'nice-grpc'; const x = /[/]`/, y = a / b; `${`${1}`}`; x.listen({ port, host })\n"))
	f.Add([]byte("import { connectNodeAdapter } from '@connectrpc/connect-node'; http2.createServer(connectNodeAdapter({})).listen(1"))
	f.Add([]byte("new DaprServer({ serverPort: p, communicationProtocol: CommunicationProtocolEnum.GRPC }); const p = p + p;"))
	f.Fuzz(func(t *testing.T, text []byte) {
		linesAreInside(t, nodeSource(text), text)
	})
}

func FuzzPHPSource(f *testing.F) {
	f.Add([]byte("<p>\n<?php\nuse OpenSwoole\\GRPC\\Server;\n(new Server('0.0.0.0', 9501))->run();\n# '\n?>it's<?php // \"\n"))
	f.Add([]byte("<?php return [['port' => (int) env('P', 1), 'c' => [[\\Hyperf\\GrpcServer\\Server::class, 'onRequest']]]];"))
	f.Add([]byte("<?php use A\\{B, C as D}; $x = <<<'END'\n new \\Grpc\\RpcServer() \n END; new \\Grpc\\RpcServer"))
	f.Add([]byte("<?php use Spiral\\RoadRunner\\GRPC; class S { function a(GRPC\\ContextInterface $c, M $m) {} }"))
	f.Fuzz(func(t *testing.T, text []byte) {
		linesAreInside(t, phpSource(text), text)
	})
}

func FuzzPHPRunner(f *testing.F) {
	f.Add([]byte("version: '3'\ngrpc:\n  listen: tcp://0.0.0.0:${P:-9001}\n  pool: {}\nhttp:\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		signs, _ := phpRunner(text)
		linesAreInside(t, signs, text)
	})
}

func linesAreInside(t *testing.T, signs []sign, text []byte) {
	t.Helper()
	lines := bytes.Count(text, []byte("\n")) + 1
	for _, s := range signs {
		if s.kind != listens && s.kind != nodeListensHTTP && (s.line < 1 || s.line > lines) {
			t.Errorf("sign %+v in a file of %d lines", s, lines)
		}
		if (s.kind == listens || s.kind == nodeListensHTTP) && (s.port < noPort || s.port > 65535) {
			t.Errorf("port %d", s.port)
		}
	}
}
