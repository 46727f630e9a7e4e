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
	// growthSize is how many bytes the smaller of two repetitive sources has whose costs are compared, and growth how
	// many times as many the greater one. Each is below the sizes above which analyzers leave something out.
	growthSize = 15 << 10
	growth     = 4
	// maxGrowth is how many times as much the greater one may cost: twice as much as is linear, and half of what grows
	// with the square.
	maxGrowth = 2 * growth
	// minCost is what is not worth to be compared: what is that cheap at the greater size is so at any that is read.
	minCost = 40 * time.Millisecond
	// growthTries is how often a cost that seems to grow too fast is measured.
	growthTries = 4
)

// grows tests that the cost of a source does not grow with the square of its size. The cost is the processor time of
// the thread, the least of several runs, at two sizes: neither the load nor the speed of the machine decides.
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

// cost returns the processor time that the scan of an app takes which is one file.
func cost[T any](d analyzer.Definition[T], f *tree.File) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := threadTime()
	scan := analyzer.New(d).NewScan()
	_ = scan.Analyze(f) // a text that is not understood is no failure
	if scan.Waits(f.Path) {
		_ = scan.Analyze(f)
	}
	scan.PostAnalyze(func(string, ...any) {})
	return threadTime() - begin
}

// threadTime returns the processor time that the thread has had.
func threadTime() time.Duration {
	var usage syscall.Rusage
	const ofThread = 1 // RUSAGE_THREAD of getrusage(2)
	if err := syscall.Getrusage(ofThread, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
