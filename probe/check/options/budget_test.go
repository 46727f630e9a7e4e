package options_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/flags"
	"github.com/grpc-cnb/health-probe/probe/grpcgo"
	"github.com/grpc-cnb/health-probe/probe/lean"
	"github.com/grpc-cnb/health-probe/probe/probetest"
)

// notOfTime are flags with a number that do not lengthen a probe, each with the reason why.
var notOfTime = map[string]string{}

// numbers returns two values to try for a flag that takes a number, which its default tells, and nil for all others.
func numbers(f flags.Flag) []string {
	if _, err := strconv.ParseFloat(f.Default, 64); err == nil {
		return []string{"2", "3"}
	}
	if _, err := time.ParseDuration(f.Default); err == nil {
		return []string{"30ms", "70ms"}
	}
	return nil
}

// parse returns the options that words mean. The address is one of the documentation.
func parse(words ...string) (*options.Options, error) {
	c := flags.New("", nil)
	if err := c.Parse(append([]string{"-addr=192.0.2.1:1"}, words...)); err != nil {
		return nil, err
	}
	return c.Options(address.AnyPort)
}

func TestEachFlagWithANumberIsPartOfTheBudget(t *testing.T) {
	t.Parallel()
	without, err := parse()
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, f := range flags.All() {
		for _, number := range numbers(f) {
			tried++
			with, err := parse("-" + f.Name + "=" + number)
			isPart, reason := err == nil && with.Budget != without.Budget, notOfTime[f.Name]
			if isPart == (reason != "") {
				t.Errorf("-%s=%s is part of options.Budget: %v; in notOfTime: %q. It has to be in one of them, with "+
					"Budget.Longest counting it, or with the reason why it takes no time",
					f.Name, number, isPart, reason)
			}
		}
	}
	if tried < 8 {
		t.Errorf("only %d numbers were tried", tried)
	}
}

func TestTheShorterOfWaitAndTimeoutLimitsEverything(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		wait, timeout time.Duration
		flag          string
		limit         time.Duration
	}{
		{0, 0, "-timeout", 0},
		{0, 1, "-timeout", 1},
		{1, 0, "-wait", 1},
		{1, 2, "-wait", 1},
		{2, 1, "-timeout", 1},
		{1, 1, "-timeout", 1},
	} {
		b := options.Budget{Wait: test.wait, Timeout: test.timeout}
		if flag, limit := b.Limit(); flag != test.flag || limit != test.limit {
			t.Errorf("of -wait=%v and -timeout=%v, %s=%v limits, want %s=%v",
				test.wait, test.timeout, flag, limit, test.flag, test.limit)
		}
	}
}

// commandLines returns all combinations of flags with a number, each with every boolean flag on its own. Only -version,
// which ends before it probes, and -watch, which is not meant to end, are left out.
func commandLines() (all [][]string) {
	all = [][]string{{"-connect-timeout=40ms", "-rpc-timeout=40ms"}}
	switches := []string{"-tls=false"}
	for _, f := range flags.All() {
		if f.Default == "false" && f.Name != "version" && f.Name != "watch" {
			switches = append(switches, "-"+f.Name)
		}
		for _, words := range slices.Clone(all) {
			for _, number := range numbers(f) {
				all = append(all, append(slices.Clone(words), "-"+f.Name+"="+number))
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

var transports = map[string]check.Transport{"lean": lean.Transport{}, "grpcgo": grpcgo.Transport{}}

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
					o, err := parse(append(slices.Clone(words), "-addr="+addr)...)
					if err != nil {
						return // flags that cannot be meant together
					}
					ran.Add(1)
					longest, given := spend(transport, o)
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
		o, err := parse("-addr="+hanging, "-connect-timeout=1m", "-rpc-timeout=50ms")
		if err != nil {
			t.Fatal(err)
		}
		longest, given := spend(transport, o)
		if given != longest || longest < time.Minute {
			t.Errorf("%s asks for %v, and its longest time is %v", name, given, longest)
		}
	}
}

// spend runs one probe, and returns the longest time that was promised, and the time that all steps together have asked
// the budget for.
func spend(t check.Transport, o *options.Options) (longest, given time.Duration) {
	p := check.Prober{Transport: t, Options: o}
	_ = p.Run() // what it finds is not what is tested
	return o.Budget.Longest(), o.Budget.Spent()
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

// isElse reports whether a file is of a program that is no probe.
func isElse(path string) bool {
	folder, _, _ := strings.Cut(strings.TrimPrefix(filepath.ToSlash(path), "../../"), "/")
	return folder == "bridge" || folder == "bench" || folder == "probetest"
}

// Time that is spent without the budget would be missing in the longest time of a probe.
func TestOnlyTheBudgetWaits(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"../../*.go", "../../*/*.go", "../../*/*/*.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("finding %s: %v, %v", pattern, paths, err)
		}
		for _, path := range paths {
			if path == "../../check/options/budget.go" || isElse(path) || strings.HasSuffix(path, "_test.go") {
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
