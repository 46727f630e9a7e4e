package golang

import (
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

type stated struct {
	port      int
	certainty plan.Certainty
}

// What has a pointer to a variable may assign it, also one that stands in a struct: the value is not known then. A flag
// that is given the pointer states the default.
func TestPointersAreNoValues(t *testing.T) {
	const head = "package main\nimport (\"net\"; \"google.golang.org/grpc\")\n" +
		"type options struct{ Port *string }\nfunc main() {\n"
	const tail = "\nl, _ := net.Listen(\"tcp\", port)\ngrpc.NewServer().Serve(l)\n}\n"
	for body, want := range map[string]stated{
		`port := ":7001"`: {7001, plan.Written},
		"port := \":7001\"\no := options{Port: &port}\nload(o)":      {0, plan.Unknown},
		"port := \":7001\"\no := options{&port}\nload(o)":            {0, plan.Unknown},
		"port := \":7001\"\np := &port\n*p = read()":                 {0, plan.Unknown},
		"port := \":7001\"\nload(&port)":                             {0, plan.Unknown},
		"port := \":7001\"\nload(1, &port, 2)":                       {0, plan.Unknown},
		"port := \":7001\"\nflag.StringVar(&port, \"p\", \":2\", s)": {0, plan.Unknown},
		"var port string\nflag.StringVar(&port, \"p\", \":7002\", s)": {
			7002, plan.Default,
		},
		"var port string\nflag.StringVarP(&port, \"p\", \"q\", \":7002\", s)": {7002, plan.Default},
		"port := \":7001\"\nif a {\nport = \":7002\"\n}":                      {0, plan.Unknown},
		"port := \":7001\"\nport = other()":                                   {7001, plan.Default},
		"port := 7001\nport++":                                                {0, plan.Unknown},
		"port := 7001\nport += 2":                                             {0, plan.Unknown},
		"port := 7000 + shard":                                                {0, plan.Unknown},
		"port := base() + 7001":                                               {0, plan.Unknown},
		"const Port = 7001\nc := load()\nport := c.Port":                      {0, plan.Unknown},
		"c := load()\nc.Port = 7001\nport := c.Port":                          {7001, plan.Written},
		"c := load()\nport := c.Port":                                         {0, plan.Unknown},
		"port := at(\"grpc\", 7001)":                                          {7001, plan.Default},
	} {
		result, err := definition.Analyze(tree.NewText("main.go", []byte(head+body+tail)))
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		finding.Locate(result.Findings, "main.go")
		files := []analyzer.File[Extra]{{Path: "main.go", Result: *result}}
		for _, s := range postAnalyze(files, func(string, ...any) {}) {
			if got := (stated{s.Address.Port, s.Address.Certainty}); got != want {
				t.Errorf("%s: port %d, certainty %d, want %v", body, got.port, got.certainty, want)
			}
		}
	}
}
