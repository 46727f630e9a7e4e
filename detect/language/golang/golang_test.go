package golang

import (
	"fmt"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

func TestApps(t *testing.T) { analyzertest.Apps(t, definition) }

// Go is parsed and not searched with patterns, so no searches are counted here: TestEvaluationIsBounded counts what the
// expressions of a file cost.
func TestRepetitiveSources(t *testing.T) {
	const imports = "package a\nimport (\"flag\"; \"fmt\"; \"net\"; \"net/http\"; \"google.golang.org/grpc\")\n"
	analyzertest.Repetitive(t, definition, analyzertest.Repetition{
		Path: "a.go", Head: imports + "func s(a string) { grpc.NewServer(); net.Listen(\"tcp\", a) }\n",
		Units: []string{
			"var A = A + A\n", "const A = A + A\n", "import \"a\"\n", "func a() string { return A }\n",
			"type A struct { A A }\n", "func (a A) a() {}\n", "func f() { A = A }\n",
			"func g() { s := grpc.NewServer(); l, _ := net.Listen(\"tcp\", A); s.Serve(l) }\n",
			"func f(a string) { net.Listen(\"tcp\", a); s(a) }\n", "var _, _ = net.Listen(\"tcp\", a)\nvar a = a + a\n",
			"var l, _ = net.Listen(\"tcp\", *flag.String(\"a\", \"b\", \"c\"))\nvar _ = http.Serve(l, nil)\n",
			"var a = fmt.Sprintf(a, a, a, a)\nvar _, _ = net.Listen(a, a)\n", "var _ = m.Handle(a.NewAHandler(b))\n",
			"var _ = RegisterAHandler(s.Server(), a)\n", "var _ = (((a)))\n", "/*", "`", "import . \"a\"\n",
			"func f() { l := w(l); s.l = w(s.l); s.Serve(l); s.Serve(s.l); s.ServeHTTP(l, l) }\n", "{ a := a\n",
			"func f(a, b c) { if a := b; a { a = b } }\n", "switch { case a: a := b\n",
		},
	})
}

func TestHealthWarningNamesWhatToCall(t *testing.T) {
	want := map[string]string{
		grpcGo: "RegisterHealthServer(", connectGo: "grpchealth.NewHandler(", dapr: "GrpcServer()",
		kratos: "CustomHealth()", goMicro: "RegisterHealthHandler(", yarpc: "-mode connect", kitex: "RegisterService(",
	}
	for _, f := range frameworks {
		s := plan.Server{Language: "go", Framework: f.Name, Health: plan.HealthMissing, HealthAdvice: f.Advice}
		if got := s.HealthWarning(); !strings.Contains(got, want[f.Name]) {
			t.Errorf("%s: %q does not name %q", f.Name, got, want[f.Name])
		}
		delete(want, f.Name)
	}
	if len(want) > 0 {
		t.Errorf("no frameworks are named %v", want)
	}
}

// The time of the analysis grows with what was found. If it grew with its square, this would take hours.
func TestTreeOfServersIsAnalyzed(t *testing.T) {
	const many = 50_000
	var files []analyzer.File[Extra]
	add := func(path string, r analyzer.Result[Extra]) {
		finding.Locate(r.Findings, path)
		files = append(files, analyzer.File[Extra]{Path: path, Result: r})
	}
	for i := range many {
		dir := fmt.Sprintf("%06d", i)
		module := Extra{ModulePath: "example.com/" + dir}
		add(dir+"/go.mod", analyzer.Result[Extra]{ProjectRoot: i%2 == 0, Extra: module})
		add(dir+"/main.go", analyzer.Result[Extra]{Findings: []finding.Finding{
			finding.Server{Site: finding.AtLine(1, ""), Framework: grpcGo},
		}})
		add(dir+"/sub/main.go", analyzer.Result[Extra]{Findings: []finding.Finding{
			ofPackage{Site: finding.AtLine(1, ""), kind: registration},
		}})
	}
	if found := postAnalyze(files, func(string, ...any) {}); len(found) != many {
		t.Errorf("%d services of %d", len(found), many)
	}
}
