package main

import (
	"bytes"
	"errors"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"bench": main}) }

func TestCommandLine(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true})
}

// The benchmark is run with the product's own programs. Every figure must be there and be a number, as far as this
// machine allows to set limits.
func TestBenchmarkMeasuresEverything(t *testing.T) {
	t.Parallel()
	command := exec.Command("../../scripts/bench.sh", "--runs", "1")
	var progress bytes.Buffer
	command.Stderr = &progress
	out, err := command.Output()
	if err != nil {
		t.Fatalf("running the benchmark: %v\n%s", err, progress.Bytes())
	}
	tables := strings.Count(string(out), "| --- |")
	for _, program := range []string{"lean", "full", "empty Go program"} {
		rows := regexp.MustCompile(`(?m)^\| `+program+` \|.*[0-9].*\|$`).FindAllString(string(out), -1)
		if len(rows) != tables {
			t.Errorf("%q is in %d of %d tables:\n%s", program, len(rows), tables, out)
		}
	}
	limits := strings.Count(string(out), "limit of") / 2
	if leftOut := strings.Count(string(out), "Left out"); limits+leftOut != 2 {
		t.Errorf("%d kinds of limits measured and %d left out, of 2:\n%s", limits, leftOut, out)
	}
	if bytes.Contains(out, []byte("NaN")) || bytes.Contains(out, []byte("Inf")) || bytes.Contains(out, []byte("| 0 ")) {
		t.Errorf("a figure is not a number:\n%s", out)
	}
}

func TestQuantileLiesBetweenValuesInProportion(t *testing.T) {
	t.Parallel()
	values := []float64{40, 10, 30, 20}
	for share, want := range map[float64]float64{0: 10, 0.25: 17.5, 0.5: 25, 0.9: 37, 1: 40} {
		if got := quantile(values, share); math.Abs(got-want) > 1e-9 {
			t.Errorf("quantile(%v, %v) = %v, want %v", values, share, got, want)
		}
	}
	if got := quantile([]float64{7}, 0.9); got != 7 {
		t.Errorf("the quantile of 7 alone is %v", got)
	}
}

func TestStatusFieldReadsNumbersOfAProcess(t *testing.T) {
	t.Parallel()
	status := []byte("Name:\tThreads: 9\nVmHWM:\t    5004 kB\nThreads:\t4\n")
	for name, want := range map[string]float64{"VmHWM": 5004, "Threads": 4} {
		if got, err := statusField(status, name); got != want || err != nil {
			t.Errorf("statusField(%q) = %v, %v, want %v", name, got, err, want)
		}
	}
	if _, err := statusField(status, "VmRSS"); err == nil {
		t.Error("no error for a field that is not there")
	}
}

func TestLeastFindsTheBoundary(t *testing.T) {
	t.Parallel()
	for want := 1; want <= 9; want++ {
		got, err := least(9, func(n int) (bool, error) { return n >= want, nil })
		if got != want || err != nil {
			t.Errorf("least = %d, %v, want %d", got, err, want)
		}
	}
	if _, err := least(9, func(int) (bool, error) { return false, nil }); err == nil {
		t.Error("no error if nothing passes")
	}
	broken := errors.New("broken")
	breaks := func(n int) (bool, error) { return true, map[int]error{4: broken}[n] }
	if _, err := least(9, breaks); !errors.Is(err, broken) {
		t.Errorf("least fails with %v, want %v", err, broken)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	plain := protocol{Name: "plaintext"}
	c := config{
		runs: 2, floors: []program{{name: "floor", size: 1e6}},
		programs: []program{{name: "lean", size: 2e6}, {name: "full", size: 8e6}},
	}
	r := results{
		{"full", "plaintext"}:  {{4e-3, 2e-3, 200, 8e6, 5}, {8e-3, 4e-3, 400, 8e6, 7}},
		{"lean", "plaintext"}:  {{2e-3, 1e-3, 100, 2e6, 4}, {2e-3, 1e-3, 100, 2e6, 4}},
		{"floor", "plaintext"}: {{1e-3, 1e-3, 50, 1e6, 4}, {1e-3, 1e-3, 50, 1e6, 4}},
	}
	l := limited{
		wall:    map[subject]map[int][]float64{},
		leftOut: []error{errors.New(`finding the cgroup controller "memory": none is mounted`)},
	}
	for of := range r {
		l.wall[of] = map[int][]float64{20: {1e-3, 2e-3}, 50: {1e-3}, 100: {1e-3}}
	}
	want, err := os.ReadFile("testdata/report.golden")
	if err != nil {
		t.Fatal(err)
	}
	if got := (report{"a machine", c, []protocol{plain}, r, l}).String(); got != string(want) {
		t.Errorf("report is\n%s\nwant\n%s", got, want)
	}
}
