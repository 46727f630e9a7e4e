package detect

import "testing"

func FuzzRustSource(f *testing.F) {
	f.Add([]byte("use tonic::{transport::Server as S, *};\n#[cfg(test)] mod t { fn f() {} }\nfn f() { S::builder().add_service(x).serve(\"[::]:1\".parse()) }\n"))
	f.Add([]byte("use a::{b::{c as d, self}, e::*};\nimpl<T: A<B>> c::x_server::X for Y { r: Request<Z> }\n// grpc /* */ r#\"\"# '\\'' 'a b'\"\n"))
	f.Add([]byte("#[arg(default_value = \"1\")] port: u16, let port = port; .serve(port) tonic::transport::Server::builder()"))
	f.Fuzz(func(t *testing.T, text []byte) {
		checkSigns(t, text, rustSource("src/main.rs", text))
	})
}

func FuzzRustManifest(f *testing.F) {
	f.Add([]byte("[workspace]\nmembers = [\"a\"]\n"))
	f.Add([]byte("workspace = 1\n[[bin"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if said, _ := rustManifest(text); !said.root {
			t.Error("a Cargo.toml is no root")
		}
	})
}

// checkSigns reports signs outside of their file.
func checkSigns(t *testing.T, text []byte, said *sheet) {
	t.Helper()
	if said == nil {
		return
	}
	lines := 1
	for _, c := range text {
		if c == '\n' {
			lines++
		}
	}
	for _, s := range said.signs {
		if s.kind == listens && (s.port < noPort || s.port == 0 || s.port > 65535) || s.kind != listens && (s.line < 1 || s.line > lines) {
			t.Errorf("sign %+v in a file of %d lines", s, lines)
		}
	}
}
