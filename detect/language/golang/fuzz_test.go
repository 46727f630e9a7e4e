package golang

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

func FuzzSource(f *testing.F) {
	f.Add("main.go", []byte("package main\n\nimport \"google.golang.org/grpc\"\n\nvar _ = grpc.NewServer()\n"))
	f.Add("a_linux.go", []byte("//go:build linux\npackage a\nimport . \"google.golang.org/grpc\"\n"+
		"func f(p int) { a, b := NewServer() }\n"))
	f.Add("b.go", []byte("package b\nimport \"net\"\nvar x = y\nvar y = x + z()[1](2)\n"+
		"var _, _ = net.Listen(\"grpc\", x)\n"))
	f.Add("c.go", []byte("package c\nimport (\"fmt\"; \"net\"; \"google.golang.org/grpc\")\n"+
		"var _, _ = net.Listen(\"tcp\", fmt.Sprintf())\n//line d.go:9999\nvar _ = grpc.NewServer()\n"))
	f.Add("e.go", []byte("package e\nimport (\"net\"; \"flag\"; \"google.golang.org/grpc\")\n"+
		"type c struct{ a struct{ p int `default:\"1\"` }; b }\n"+
		"func (x *c) f(p int) (q int, _ error) { q = p; return }\n"+
		"func g(x c) { y := c{}; y.a.p = 2; q, _ := y.f(*flag.Int(\"p\", 3, \"\")); "+
		"net.Listen(\"tcp\", x.a.p+q+y.b.r)\n"+
		"flag.IntVar(&x.a.p, \"p\", 4, \"\"); grpc.NewServer() }\n"))
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		result, err := analyzeSource(tree.NewText(name, text), text)
		if err != nil && result != nil {
			t.Errorf("a file that is left out has a result: %v", result)
		}
		if result != nil {
			analyzertest.CheckPlaces(t, text, result.Findings)
			name = strings.TrimLeft(name, "/") // paths are those below the app's folder
			postAnalyze([]analyzer.File[Extra]{{Path: name, Result: *result}}, t.Logf)
		}
	})
}

// The seeds are the beginning of a true program: that of this test.
func FuzzProgram(f *testing.F) {
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
	f.Fuzz(func(t *testing.T, content []byte) {
		r := tree.LimitReaderAt(bytes.NewReader(content), tree.MaxProgram)
		if result, err := tree.RecoverRead(r, analyzeProgram); err != nil && result != nil {
			t.Errorf("a program that is left out has a result: %v", result)
		}
	})
}
