package php

import (
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
)

func TestApps(t *testing.T) { analyzertest.Apps(t, definition) }

func TestLayouts(t *testing.T) { analyzertest.Layouts(t, definition, grammar.Read, ".php") }

func TestRepetitiveSources(t *testing.T) {
	analyzertest.Repetitive(t, definition, analyzertest.Repetition{
		Path: "src/a.php", Head: "<?php grpc; ",
		Units: []string{
			"const A = A + A;\n", "use A\\B;\n", "function a() { return A; }\n",
			"class A { const A = A; }\n", "{", "$s = new \\Grpc\\RpcServer(); $s->addHttp2Port($a);\n",
			"$a = $a;\n", "define('A', A);\n",
			"[Server::class,'x'", "<<<A\n", "a\\", "/*", "\\Hyperf\\GrpcServer\\Server::class,'a'", "function a(A $b,",
			"(", "{a:",
			"class A { const P = 5000; ", "$a->addHttp2Port($a->b", "function a() { return 5000; }", "$a = 5;",
		},
	})
}

func FuzzSource(f *testing.F) {
	analyzertest.FuzzSource(f, definition, "a.php",
		"<p>\n<?php\nuse OpenSwoole\\GRPC\\Server;\n(new Server('0.0.0.0', 9501))->run();\n# '\n?>it's<?php // \"\n",
		"<?php return [['port' => (int) env('P', 1), 'c' => [[\\Hyperf\\GrpcServer\\Server::class, 'onRequest']]]];",
		"<?php use A\\{B, C as D}; $x = <<<'END'\n new \\Grpc\\RpcServer() \n END; new \\Grpc\\RpcServer",
		"<?php use Spiral\\RoadRunner\\GRPC; class S { function a(GRPC\\ContextInterface $c, M $m) {} }")
}

func FuzzComposer(f *testing.F) {
	analyzertest.FuzzSource(f, definition, "composer.json",
		`{"type": "library", "require": {"spiral/roadrunner": "2.9.*"}}`)
}

func FuzzRoadRunner(f *testing.F) {
	analyzertest.FuzzSource(f, definition, ".rr.yaml",
		"version: '3'\ngrpc:\n  listen: tcp://0.0.0.0:${P:-9001}\n  pool: {}\nhttp:\n")
}
