package golang

import (
	"strconv"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

// The file of the expressions. What an expression states may depend on all of it.
const declarations = `package a

import (
	"flag"
	"fmt"
)

const port = 50051

var (
	address  = ":50052"
	fromFlag = flag.String("addr", ":50053", "usage")
	circle   = circle2
	circle2  = circle
	long1    = "0123456789abcdef" + "0123456789abcdef"
	long2    = long1 + long1 + long1 + long1
	long3    = long2 + long2 + long2 + long2
	deep     = fmt.Sprintf("%s%s%s", deeper, deeper, deeper)
	deeper   = fmt.Sprintf("%s%s%s", deep, deep, deep)
)
`

func TestConstant(t *testing.T) {
	for expression, want := range map[string]string{
		`":1"`: ":1", `(":1")`: ":1", `50051`: "50051", `port`: "50051", `address`: ":50052", `*fromFlag`: ":50053",
		`":" + "1"`: ":1", `fmt.Sprintf(":%d", port)`: ":50051", `fmt.Sprintf("%s:%d", "h", 1)`: "h:1",
		`fmt.Sprintf("%4s", "a")`: "   a", `*flag.Int("p", 1, "")`: "1",
		// What the file does not state, or what no address is.
		`other`: "", `circle`: "", `":" - "1"`: "", `f()`: "", `fmt.Sprintf()`: "", `fmt.Sprintf(":%d", other)`: "",
		`fmt.Sprintf("%999999s", "a")`: "", `fmt.Sprintf("%999999[1]s", "a")`: "", `fmt.Sprintf("%0999999d", 1)`: "",
		`long3`: "", `1.5`: "",
	} {
		got := evaluated(parseExpression(t, expression))
		if len(got) > 1 || strings.Join(got, "") != want {
			t.Errorf("%s is %q, want %q", expression, got, want)
		}
	}
}

// Declarations may lead to each other many times over. What is evaluated for one file is bounded.
func TestEvaluationIsBounded(t *testing.T) {
	s, e := parseExpression(t, "deep")
	for range 1000 {
		if got := evaluated(s, e); got != nil {
			t.Fatalf("it is %q", got)
		}
		// Each of the expressions that are evaluated last may still ask for a few.
		if s.evaluated > maxEvaluated+1000 {
			t.Fatalf("%d expressions were evaluated for one port", s.evaluated)
		}
	}
	if s.total > maxTotal+1000*100 {
		t.Errorf("%d expressions were evaluated", s.total)
	}
}

// What is read and evaluated to find the ports of an app is bounded, whatever the app declares: this would take hours.
func TestHostileDeclarationsAreBounded(t *testing.T) {
	const head = "package main\nimport (\"net\"; \"google.golang.org/grpc\")\nfunc main() { grpc.NewServer() }\n"
	for _, unit := range []string{
		"func f%[1]d(a int) (x int) { x = f%[2]d(a) + f%[2]d(x); return x }\n" +
			"var _, _ = net.Listen(\"tcp\", f%[1]d(1))\n",
		"type T%[1]d struct { T%[2]d; *T%[1]d }\nfunc (t *T%[1]d) l() { net.Listen(\"tcp\", t.A.B.C) }\n",
		"var v = T{A: v.A, B: v.B}\nvar _, _ = net.Listen(\"tcp\", v.A + v.B)\n",
		"func (t *T) m() *T { return t.m().m().m() }\nvar _, _ = net.Listen(\"tcp\", new(T).m().a)\n",
		"func g(a, b string) { g(a+b, b+a); a.x.y = b.x.y; net.Listen(\"tcp\", a.x.y+b) }\n",
	} {
		var text strings.Builder
		text.WriteString(head)
		for i := 0; text.Len() < 200<<10; i++ {
			text.WriteString(strings.NewReplacer("%[1]d", strconv.Itoa(i), "%[2]d", strconv.Itoa(i/2+1)).Replace(unit))
		}
		result, err := definition.Analyze(tree.NewText("main.go", []byte(text.String())))
		if err != nil || len(result.Extra.Addresses) < 100 {
			t.Fatalf("%s: %v", unit, err)
		}
		files := []analyzer.File[Extra]{{Path: "main.go", Result: *result}}
		if found := postAnalyze(files, func(string, ...any) {}); len(found) != 1 || found[0].Port != 0 {
			t.Errorf("%s: found %v", unit, found)
		}
	}
}

// evaluated returns the texts that an expression may have for its value.
func evaluated(s *sources, e expression) []string {
	s.evaluated = 0
	var texts []string
	for _, v := range s.evaluate(e, 0) {
		texts = append(texts, v.text)
	}
	return texts
}

// parseExpression returns an expression in the file of the declarations, and what the file declares.
func parseExpression(t *testing.T, text string) (*sources, expression) {
	t.Helper()
	s := newSources(func(string) (string, bool) { return "", false })
	f := s.parse("a.go", []byte(strings.Replace(declarations, "var (", "var expression = "+text+"\nvar (", 1)))
	if f == nil {
		t.Fatalf("%s is not Go", text)
	}
	return s, s.values[symbol{".", "expression"}][0]
}
