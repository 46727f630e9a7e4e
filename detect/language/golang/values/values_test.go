package values

import (
	"strings"
	"testing"
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

// evaluated returns the texts that are known of those that an expression may have for its value.
func evaluated(s *Sources, e expression) []string {
	s.begin()
	var texts []string
	for _, v := range s.evaluate(e, 0) {
		if !v.isUnknown() {
			texts = append(texts, v.text)
		}
	}
	return texts
}

// parseExpression returns an expression in the file of the declarations, and what the file declares.
func parseExpression(t *testing.T, text string) (*Sources, expression) {
	t.Helper()
	s := NewSources(func(string) (string, bool) { return "", false })
	f := s.Parse("a.go", []byte(strings.Replace(declarations, "var (", "var expression = "+text+"\nvar (", 1)))
	if f == nil {
		t.Fatalf("%s is not Go", text)
	}
	return s, s.values[symbol{".", "expression"}][0]
}
