package golang

import (
	"strconv"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

// What is read and evaluated to find the ports of an app is bounded, whatever the app declares: this would take hours.
func TestHostileDeclarationsAreBounded(t *testing.T) {
	const head = "package main\nimport (\"net\"; \"google.golang.org/grpc\")\nfunc main() { grpc.NewServer() }\n"
	for _, unit := range []string{
		"func f%[1]d(a int) (x int) { x = f%[2]d(a) + f%[2]d(x); return x }\n" +
			"var _, _ = net.Listen(\"tcp\", f%[1]d(1))\n",
		"type T%[1]d struct { T%[2]d; *T%[1]d }\nfunc (t *T%[1]d) l() { net.Listen(\"tcp\", t.A.B.C) }\n",
		"var v = T{A: v.A, B: v.B}\nvar _, _ = net.Listen(\"tcp\", v.A + v.B)\n",
		"func (t *T) m() *T { return t.m().m().m() }\nvar _, _ = net.Listen(\"tcp\", new(T).m().a)\n",
		"func h%[1]d() { a := b; { a := a; if a { a = a }; net.Listen(\"tcp\", a) } }\n",
		"type U%[1]d struct { A, B string }\nvar u%[1]d = U%[1]d{u%[2]d.B, u%[2]d.A}\n" +
			"var _, _ = net.Listen(\"tcp\", u%[1]d.A + viper.GetString(u%[1]d.B))\n",
		"func g(a, b string) { g(a+b, b+a); a.x.y = b.x.y; net.Listen(\"tcp\", a.x.y+b) }\n",
	} {
		var text strings.Builder
		text.WriteString(head)
		for i := 0; text.Len() < 200<<10; i++ {
			text.WriteString(strings.NewReplacer("%[1]d", strconv.Itoa(i), "%[2]d", strconv.Itoa(i/2+1)).Replace(unit))
		}
		result, err := definition.Analyze(tree.NewText("main.go", []byte(text.String())))
		if err != nil {
			t.Fatalf("%s: %v", unit, err)
		}
		finding.Locate(result.Findings, "main.go")
		files := []analyzer.File[Extra]{{Path: "main.go", Result: *result}}
		if found := postAnalyze(files, func(string, ...any) {}); len(found) != 1 || found[0].Address.Port != 0 {
			t.Errorf("%s: found %v", unit, found)
		}
	}
}

// So is what is followed to find the credentials of servers, and the listeners that they are given.
func TestHostileOptionsAreBounded(t *testing.T) {
	const head = "package main\nimport (\"net\"; \"google.golang.org/grpc\")\nfunc main() {}\n"
	for _, unit := range []string{
		"func f%[1]d(o ...grpc.ServerOption) []grpc.ServerOption {\n" +
			"if len(o) > %[1]d { o = append(o, f%[2]d(o...)...) }\n" +
			"if b%[1]d == nil { return f%[1]d(o...) }\nreturn append(o, grpc.Creds(c%[2]d(o)))\n}\n" +
			"var s%[1]d, b%[1]d = grpc.NewServer(f%[1]d(f%[2]d()...)...), s%[1]d\n",
		"func g%[1]d(s *grpc.Server, l net.Listener) { g%[2]d(s, l); if s == nil { s = h(s) }; s.Serve(w(l)) }\n" +
			"func h(s *grpc.Server) *grpc.Server { if s == nil { return h(h(s)) }; return grpc.NewServer() }\n",
		"func k%[1]d() { switch a { case b, c: if a { o = append(o, o...) } else if b { o = n(o) } }\n" +
			"grpc.NewServer(o...).Serve(o) }\n",
	} {
		var text strings.Builder
		text.WriteString(head)
		for i := 0; text.Len() < 200<<10; i++ {
			text.WriteString(strings.NewReplacer("%[1]d", strconv.Itoa(i), "%[2]d", strconv.Itoa(i/2+1)).Replace(unit))
		}
		result, err := definition.Analyze(tree.NewText("main.go", []byte(text.String())))
		if err != nil {
			t.Fatal(err)
		}
		finding.Locate(result.Findings, "main.go")
		files := []analyzer.File[Extra]{{Path: "main.go", Result: *result}}
		if found := postAnalyze(files, func(string, ...any) {}); len(found) == 0 {
			t.Errorf("%s: found nothing", unit)
		}
	}
}
