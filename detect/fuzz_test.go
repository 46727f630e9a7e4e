package detect

import (
	"bytes"
	"os"
	"testing"
)

func FuzzGoSource(f *testing.F) {
	f.Add("main.go", []byte("package main\n\nimport \"google.golang.org/grpc\"\n\nvar _ = grpc.NewServer()\n"))
	f.Add("a_linux.go", []byte("//go:build linux\npackage a\nimport . \"google.golang.org/grpc\"\nfunc f(p int) { a, b := NewServer() }\n"))
	f.Add("b.go", []byte("package b\nimport \"net\"\nvar x = y\nvar y = x + z()[1](2)\nvar _, _ = net.Listen(\"grpc\", x)\n"))
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		said, err := goSource(name, text)
		lines := bytes.Count(text, []byte("\n")) + 1
		if err != nil && said != nil {
			t.Errorf("a file that is left out says %v", said)
		}
		if said == nil {
			return
		}
		for _, s := range said.signs {
			if s.kind != listens && s.kind != goListensHTTP && (s.line < 1 || s.line > lines) {
				t.Errorf("sign %+v in a file of %d lines", s, lines)
			}
		}
	})
}

// Programs are made from the beginning of this test's own, a true one.
func FuzzGoProgram(f *testing.F) {
	self, err := os.Executable()
	if err != nil {
		f.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(program[:4096])
	f.Add(program[:64])
	f.Fuzz(func(t *testing.T, bytesOfIt []byte) {
		r := &allowance{r: bytes.NewReader(bytesOfIt), left: maxProgramBytes}
		if said, err := readProgram(r, readGoProgram); err != nil && said != nil {
			t.Errorf("a program that is left out says %v", said)
		}
	})
}

func FuzzPlace(f *testing.F) {
	f.Add("cmd/main.go", 4)
	f.Add("a:3", 0)
	f.Fuzz(func(t *testing.T, path string, line int) {
		if len(path) > 1000 || line < 0 {
			return
		}
		p := Place{path, line}
		if back := placeFrom(p.String()); back != p {
			t.Errorf("%+v came back as %+v from %s", p, back, p)
		}
	})
}
