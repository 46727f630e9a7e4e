package execprobe

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// The price in the build's log is the measured one, of all that a pod costs with Kubernetes' default period: that of a
// native probe and of one of the bridge, which are the same in whole milliseconds, and that of an exec probe.
func TestPriceIsTheMeasuredOne(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/benchmarks.txt")
	if err != nil {
		t.Fatal(err)
	}
	cost := func(way string) float64 {
		row := regexp.MustCompile(`(?m)^\| ` + way + ` \| [^|]* \| ([0-9.]+) \([^|]*\) \|`)
		found := row.FindSubmatch(text)
		if found == nil {
			t.Fatalf("docs/benchmarks.txt does not say what a pod costs its node in the way %q", way)
		}
		milliseconds, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		return milliseconds
	}
	for _, way := range []string{"native", "bridge in the app's container"} {
		want := fmt.Sprintf("asked every 10 s, a pod takes %.0f ms of the node's CPU per second, not %.1f",
			cost(way), cost("exec of the probe"))
		if price != want {
			t.Errorf("the price is %q, and by docs/benchmarks.txt that of %s is %q", price, way, want)
		}
	}
}
