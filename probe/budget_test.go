package probe_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/probe"
	"github.com/grpc-cnb/health-probe/probe/grpcgo"
	"github.com/grpc-cnb/health-probe/probe/lean"
	"github.com/grpc-cnb/health-probe/probe/probetest"
)

// notOfTime are flags with a number that do not lengthen a probe, each with the reason why.
var notOfTime = map[string]string{}

// numbers returns two values to try for each flag that takes a number, and nil for all others.
func numbers(value flag.Value) []string {
	getter, ok := value.(flag.Getter)
	if !ok {
		return nil
	}
	switch getter.Get().(type) {
	case time.Duration:
		return []string{"30ms", "70ms"}
	case int, int64, uint, uint64, float64:
		return []string{"2", "3"}
	}
	return nil
}

func TestEachFlagWithANumberIsPartOfTheBudget(t *testing.T) {
	t.Parallel()
	for name, value := range probe.FlagValues() {
		for _, number := range numbers(value) {
			if isPart, reason := probe.ChangesBudget(name, number), notOfTime[name]; isPart == (reason != "") {
				t.Errorf("-%s=%s: part of the budget: %v; reason why it need not be: %q", name, number, isPart, reason)
			}
		}
	}
}

// commandLines returns all combinations of flags with a number, each with every boolean flag on its own. Only -version,
// which ends before it probes, and -watch, which is not meant to end, are left out.
func commandLines() (all [][]string) {
	all = [][]string{{"-connect-timeout=40ms", "-rpc-timeout=40ms"}}
	switches := []string{"-tls=false"}
	for name, value := range probe.FlagValues() {
		boolean, ok := value.(interface{ IsBoolFlag() bool })
		if ok && boolean.IsBoolFlag() && name != "version" && name != "watch" {
			switches = append(switches, "-"+name)
		}
		for _, words := range slices.Clone(all) {
			for _, number := range numbers(value) {
				all = append(all, append(slices.Clone(words), "-"+name+"="+number))
			}
		}
	}
	var switched [][]string
	for _, words := range all {
		for _, word := range switches {
			switched = append(switched, append(slices.Clone(words), word))
		}
	}
	return switched
}

var transports = map[string]probe.Transport{"lean": lean.Transport{}, "grpcgo": grpcgo.Transport{}}

// The longest time of a probe, which is printed as timeoutSeconds, is compared with the sum of all deadlines that the
// probe asks for in the worst case, so the speed of the machine does not matter. It runs with all flags that there are,
// so it fails for a new flag that lengthens a probe and not its longest time.
func TestLongestTimeIsNeverExceeded(t *testing.T) {
	t.Parallel()
	silent := startServer(t, probetest.Config{Speaks: "silence"})
	hanging := startServer(t, probetest.Config{Health: "hangs"})
	var running sync.WaitGroup
	var ran atomic.Int64
	atOnce := make(chan struct{}, 50)
	for name, transport := range transports {
		for _, words := range commandLines() {
			for _, addr := range []string{silent, hanging} {
				running.Go(func() {
					atOnce <- struct{}{}
					defer func() { <-atOnce }()
					longest, given, err := probe.ProbeOnce(transport, append(slices.Clone(words), "-addr="+addr))
					if err == nil {
						ran.Add(1)
					}
					if given > longest {
						t.Errorf("%s with %q asks for %v, and its longest time is %v", name, words, given, longest)
					}
				})
			}
		}
	}
	running.Wait()
	if ran.Load() < 100 {
		t.Errorf("only %d command lines were probed with", ran.Load())
	}
}

// A server that never answers a call makes a probe take the longest time, so that is not longer than necessary.
func TestLongestTimeIsReached(t *testing.T) {
	t.Parallel()
	hanging := startServer(t, probetest.Config{Health: "hangs"})
	for name, transport := range transports {
		longest, given, err := probe.ProbeOnce(transport,
			[]string{"-addr=" + hanging, "-connect-timeout=1m", "-rpc-timeout=50ms"})
		if err != nil || given != longest || longest < time.Minute {
			t.Errorf("%s asks for %v, and its longest time is %v, error %v", name, given, longest, err)
		}
	}
}

func startServer(t *testing.T, config probetest.Config) (addr string) {
	t.Helper()
	config.Network, config.Address = "tcp4", "127.0.0.1:0"
	server, err := probetest.Start(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server.Addr
}

// clocks are the functions that wait, or that set a timeout, by their packages. Only Budget may use them.
var clocks = map[string][]string{
	"time":    {"Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"},
	"context": {"WithTimeout", "WithTimeoutCause"},
}

// Time that is spent without the budget would be missing in the longest time of a probe.
func TestOnlyTheBudgetWaits(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"*.go", "lean/*.go", "grpcgo/*.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("finding %s: %v, %v", pattern, paths, err)
		}
		for _, path := range paths {
			if path == "budget.go" || strings.HasSuffix(path, "_test.go") {
				continue
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(node ast.Node) bool {
				selector, ok := node.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if pkg, ok := selector.X.(*ast.Ident); ok && slices.Contains(clocks[pkg.Name], selector.Sel.Name) {
					t.Errorf("%s: %s.%s: take the time from Budget", files.Position(node.Pos()), pkg.Name,
						selector.Sel.Name)
				}
				return true
			})
		}
	}
}
