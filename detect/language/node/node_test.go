package node

import (
	"fmt"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/node/ecmascript"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
)

func TestApps(t *testing.T) { analyzertest.Apps(t, definition) }

func TestLayouts(t *testing.T) {
	read := func(text []byte) *source.Text { return ecmascript.Read(text, grpcModule).Text }
	analyzertest.Layouts(t, definition, read, ".js", ".ts")
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
			"x.addService(a.service,b);", "createMicroservice(Transport.GRPC)", "@Client()Transport.GRPC ",
		},
	})
}

func TestRepetitiveModules(t *testing.T) {
	analyzertest.Repetitive(t, definition, analyzertest.Repetition{
		Path: "config.ts",
		Head: "import { parseArgs } from 'node:util'; export const port = 50051; \n",
		Units: []string{
			"a = { b: ", "a = b || c\n", "class A { a = 5\n", "export { a } from './b'\n", "registerAs('a', () => ({",
			"PORT: ", "a = yaml.load(fs.readFileSync(a))\n",
			"function a(b) { return JSON.parse(b) }\n", "a = a(b)[`a`].a\n",
			".option('a', '", "new Option('-a', { alias: 'b' ",
			"a: { default: 5000 }, ", "function a() { return 5000 }\n", "exports.a = ",
			"x.listen(5000)\n",
			"class A {\n  constructor(port = 5000) {\n", "const a = (port) => {\n",
			"function a(port) {\n", "new A(5000, ",
			"const a: {", "const a: {} = {", "  port(port) {\n", "new A<B>(port, new A(5000",
			"private a: B\n", "{ A = 5 } = process.env\n", "minimist({ ", "a = z.object({\n", "a\n|| ", ".default(",
			"new A({ port: ", "new A({ ...", "new A({ ...options, port })\n", "const { port = 5000 } = options\n",
			"function a({ port = 5000, host }, options) {\n", "const a = { port: 5000, ...options }\n",
			"const a = new A()\na.b(5000)\n",
			"if (process.env.NODE_ENV !== 'test') {\n", "const options = Object.assign({ port: 5000 }, options, ",
		},
	})
}

// The names of a module lead to names of another, over and over.
func TestNamesInCirclesEnd(t *testing.T) {
	t.Parallel()
	var files []analyzer.File[extra]
	for i := range 50 {
		names := make([]address.Name, 50)
		for j := range names {
			names[j] = address.Name{Module: fmt.Sprintf("./m%d", j), Path: "port"}
		}
		port := address.Value{Names: names}
		files = append(files, analyzer.File[extra]{Path: fmt.Sprintf("m%d.ts", i), Result: analyzer.Result[extra]{
			Findings: []finding.Finding{finding.Server{Site: finding.AtLine(1, "")}, finding.ListenerAt(port)},
			Declares: []address.Declaration{{Name: "port", Value: port}},
		}})
	}
	postAnalyze(files, func(string, ...any) {})
}

func FuzzJSON(f *testing.F) {
	analyzertest.FuzzSource(f, definition, "config/default.json", `{"a": {"port": [1, "0.0.0.0:50051"]}, "b": null}`)
}

func FuzzCompilerConfig(f *testing.F) {
	analyzertest.FuzzSource(f, definition, "tsconfig.json", `{"baseUrl": ".", "paths": {"@a/*": ["b/*"], "c": ["d"],}}`)
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
