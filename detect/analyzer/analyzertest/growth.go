package analyzertest

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

const (
	// growthSize is the size in bytes of the smaller of two repetitive sources, and growth the factor to the size of
	// the greater source. Both sizes are below the limits above which analyzers leave something out.
	growthSize = 15 << 10
	growth     = 4
	// maxGrowth bounds the factor between the costs: twice a linear growth, and half of a quadratic growth.
	maxGrowth = 2 * growth
	// minCost is the least cost to compare: a source that costs less at the greater size is cheap at any size that is
	// read.
	minCost = 40 * time.Millisecond
	// growthTries bounds the measurements of a cost that seems to grow too fast.
	growthTries = 4
)

// grows tests that the cost of a source is not quadratic in its size. The cost is the processor time of the thread, the
// least of several runs, at two sizes: neither the load nor the speed of the machine decides.
func grows[T any](t *testing.T, d analyzer.Definition[T], s Repetition, unit string) {
	t.Helper()
	small := tree.NewText(s.Path, repeated(s, unit, growthSize))
	great := tree.NewText(s.Path, repeated(s, unit, growth*growthSize))
	leastSmall, leastGreat := time.Duration(1<<62), time.Duration(1<<62)
	for range growthTries {
		leastGreat = min(leastGreat, cost(d, great))
		if leastGreat < minCost {
			return
		}
		leastSmall = min(leastSmall, cost(d, small))
		if leastGreat < maxGrowth*leastSmall {
			return
		}
	}
	t.Errorf("%s: repeating %q takes %s for %d bytes, and %s for %d", s.Path, unit, leastSmall, growthSize, leastGreat,
		growth*growthSize)
}

func repeated(s Repetition, unit string, size int) []byte {
	return []byte(s.Head + strings.Repeat(unit, size/len(unit)))
}

// cost returns the processor time to scan an app of one file.
func cost[T any](d analyzer.Definition[T], f *tree.File) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := threadTime()
	scan := analyzer.New(d).NewScan()
	_ = scan.Analyze(f) // an error is no failure
	if scan.Waits(f.Path) {
		_ = scan.Analyze(f)
	}
	scan.PostAnalyze(func(string, ...any) {})
	return threadTime() - begin
}

// threadTime returns the processor time of the thread so far.
func threadTime() time.Duration {
	var usage syscall.Rusage
	const ofThread = 1 // RUSAGE_THREAD of getrusage(2)
	if err := syscall.Getrusage(ofThread, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
