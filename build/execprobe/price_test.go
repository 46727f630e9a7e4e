package execprobe

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// The price in the build's log is the measured one: that of a native probe of the server or of the bridge, whichever
// costs more, compared with an exec probe.
func TestPriceIsTheMeasuredOne(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/benchmarks.md")
	if err != nil {
		t.Fatal(err)
	}
	cost := func(check string) float64 {
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(check) + ` \|.*\| ([0-9.]+) ms \([^|]*\) \|$`)
		found := row.FindSubmatch(text)
		if found == nil {
			t.Fatalf("docs/benchmarks.md does not say what the node's CPU time for %q is", check)
		}
		milliseconds, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		return milliseconds
	}
	native := max(cost("native"), cost("native, of the bridge, which asks over verified TLS"))
	want := fmt.Sprintf("1/%.0f of an exec probe's CPU time on the node", math.Floor(cost("exec of the probe")/native))
	if price != want {
		t.Errorf("the price is %q, and by docs/benchmarks.md %q", price, want)
	}
}
