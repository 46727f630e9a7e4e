package golang

import (
	"go/ast"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

type stated struct {
	port      int
	certainty plan.Certainty
}

// What has a pointer to a variable may assign it, also one that stands in a struct: the value is not known then. A flag
// that is given the pointer states the default.
func TestPointersAreNoValues(t *testing.T) {
	const head = "package main\ntype options struct{ Port *string }\nfunc main() {"
	for body, want := range map[string]stated{
		`port := ":7001"; listen(port)`:                                             {7001, plan.Written},
		`port := ":7001"; o := options{Port: &port}; load(o); listen(port)`:         {0, plan.Unknown},
		`port := ":7001"; o := options{Port: &port}; load(o); listen(*o.Port)`:      {0, plan.Unknown},
		`port := ":7001"; load(&port); listen(port)`:                                {0, plan.Unknown},
		`port := ":7001"; flag.StringVar(&port, "port", ":7002", ""); listen(port)`: {0, plan.Unknown},
		`var port string; flag.StringVar(&port, "port", ":7002", ""); listen(port)`: {7002, plan.Default},
		`port := ":7001"; port = ":" + port; listen(port)`:                          {7001, plan.Written},
		`port := ":7001"; port++; listen(port)`:                                     {0, plan.Unknown},
	} {
		file, err := syntax.Parse([]byte(head+body+"}"), 0)
		if err != nil {
			t.Fatal(err)
		}
		in := &unit{File: file}
		w := newWiring([]*unit{in}, nil)
		call, _ := w.calls["listen"][0].Expr.(*ast.CallExpr)
		a, _ := w.address(expression{}, expression{in, call.Args[0]})
		if a.Port != want.port || a.Certainty != want.certainty {
			t.Errorf("%s: port %d, certainty %d, want %v", body, a.Port, a.Certainty, want)
		}
	}
}
