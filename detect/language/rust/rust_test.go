package rust

import (
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
)

func TestApps(t *testing.T) { analyzertest.Apps(t, definition) }

func TestLayouts(t *testing.T) { analyzertest.Layouts(t, definition, grammar.Read, ".rs") }

func TestRepetitiveSources(t *testing.T) {
	analyzertest.Repetitive(t, definition, analyzertest.Repetition{
		Path: "a.rs", Head: "use tonic::transport::Server; Server::builder().serve(a);\n",
		Units: []string{
			"const A: u16 = A + A;\n", "use a::A;\n", "fn a() -> u16 { A }\n",
			"impl A { fn port() -> u16 { A } }\n", "{", "(", "Server::builder().add_service(a).serve(A);\n",
			"let a = a;\n", "mod a {",
			"tonic #[cfg(test)] ", "#[test]tonic", "#[cfg(test)] #[);", "use tonic::*;a::b::new ", "use tonic::{{{",
			"impl a::x_server::X for Request<", "impl a::x_server::X for S {}\n",
			"let x=x;.serve(x)tonic::transport::Server::builder ", "/*tonic", "r#\"tonic",
			"tonic::transport::Server::builder().serve(", "'tonic",
			"#[arg(default_value_t = 50051)] port: u16, ", "fn port() -> u16 { 50051 }\n", "#[arg(long, ",
			"struct A { port: u16 }\n", "port: u16,\n", "const PORT: u16 = 50051;\n", "fn port(",
			"b.tls_config(b)", "if a {\n b = b.tls_config(b)\n}\n", "#[arg(env = \"A\", ", "a = b; ", "&mut a, ",
			"let (a, b) = tonic_health::server::health_reporter();\n", "tonic_health::server::health_reporter() ",
			"#[cfg(feature = \"a\")] ", "A => Server::builder().add_service(a).serve(A),\n", "a!(", "1 + a", "a::b ",
		},
	})
}

func FuzzSource(f *testing.F) {
	analyzertest.FuzzSource(f, definition, "src/main.rs",
		"use tonic::{transport::Server as S, *};\n#[cfg(test)] mod t { fn f() {} }\n"+
			"fn f() { S::builder().add_service(x).serve(\"[::]:1\".parse()) }\n",
		"use a::{b::{c as d, self}, e::*};\nimpl<T: A<B>> c::x_server::X for Y { r: Request<Z> }\n"+
			"// grpc /* */ r#\"\"# '\\'' 'a b'\"\n",
		"#[arg(default_value = \"1\")] port: u16, let port = port; .serve(port) tonic::transport::Server::builder()")
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte("[workspace]\nmembers = [\"a\"]\n"))
	f.Add([]byte("workspace = 1\n[[bin"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if result, _ := analyzeManifest(text); !result.ProjectRoot {
			t.Error("the directory of a Cargo.toml is no project")
		}
	})
}
