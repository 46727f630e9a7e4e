package picture

import (
	"bytes"
	"encoding/xml"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/documents"
)

const (
	benchmarks = "../../docs/benchmarks.txt"
	chartFile  = "../../docs/cost.svg"
)

// TestChartHasTheFigures compares the chart in docs/benchmarks.md with docs/benchmarks.txt. UPDATE_GOLDEN=1 draws it.
func TestChartHasTheFigures(t *testing.T) {
	t.Parallel()
	want := chartOf(t, benchmarks)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(chartFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(chartFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what %s says: UPDATE_GOLDEN=1 draws it", chartFile, benchmarks)
	}
}

// TestChartBars reads the chart back: each bar is as long as its figure says, compared with the longest of its kind.
func TestChartBars(t *testing.T) {
	t.Parallel()
	var chart struct {
		Bars []struct {
			Class string  `xml:"class,attr"`
			Width float64 `xml:"width,attr"`
		} `xml:"rect"`
		Texts []struct {
			Class string `xml:"class,attr"`
			Text  string `xml:",chardata"`
		} `xml:"text"`
	}
	if err := xml.Unmarshal(chartOf(t, benchmarks), &chart); err != nil {
		t.Fatal(err)
	}
	var labels []string // the name and the figure of each bar
	for _, text := range chart.Texts {
		if text.Class != "title" {
			labels = append(labels, text.Text)
		}
	}
	bars := chart.Bars[1:] // after the background
	if len(bars) != len(periods)*len(ways)+len(measures)*len(programs) || len(labels) != 2*len(bars) {
		t.Fatalf("the chart has %d bars and %d labels", len(bars), len(labels))
	}
	nodes, longest := 10, 0.0 // the bars of the node's price come first
	for i := range nodes {
		longest = max(longest, numberIn(t, labels[2*i+1]))
	}
	own := []string{"bridge in the app's container", "bridge as a sidecar", "exec of the probe", "this probe"}
	for i, bar := range bars {
		name, value := labels[2*i], labels[2*i+1]
		want := 1.0 // the reference of a measure
		if i < nodes {
			want = numberIn(t, value) / longest
		} else if ratio := regexp.MustCompile(`\((.*) of it\)`).FindStringSubmatch(value); ratio != nil {
			want = numberIn(t, ratio[1])
		}
		if math.Abs(bar.Width/chartBar-want) > 0.005 {
			t.Errorf("the bar of %q is %v wide, and its figure is %s", name, bar.Width, value)
		}
		if slices.Contains(own, name) != (bar.Class == "own") {
			t.Errorf("the bar of %q has the class %q", name, bar.Class)
		}
	}
}

// numberIn is the number that a text begins with.
func numberIn(t *testing.T, text string) float64 {
	t.Helper()
	word, _, _ := strings.Cut(text, " ")
	number, err := strconv.ParseFloat(word, 64)
	if err != nil {
		t.Fatal(err)
	}
	return number
}

func TestChartFollowsTheFigures(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(benchmarks)
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(t.TempDir(), "benchmarks.txt")
	// Patterns, not figures: each measurement replaces these.
	for _, change := range []struct {
		old, new string
		isError  bool
	}{
		{`(\| lean \| [\d.]+ \([^)]*\) \|) [\d.]+ `, "$1 0.99 ", false},
		{`\| lean \|`, "| leaner |", true},
		{`(\| empty Go program \|.*\|) [\d.]+ \|\n`, "$1 a tenth |\n", true},
		{`(\| exec of the probe \|) [\d.]+ \(`, "$1 99.9 (", false},
		{`\| exec of the probe (\| [\d.]+ \()`, "| exec $1", true},
		{`(\| exec of the probe \|) [\d.]+ \(`, "$1 much (", true},
	} {
		pattern := regexp.MustCompile(change.old)
		if !pattern.Match(text) {
			t.Errorf("nothing in %s matches %s", benchmarks, change.old)
		}
		other := pattern.ReplaceAll(text, []byte(change.new))
		if err := os.WriteFile(changed, other, 0o600); err != nil {
			t.Fatal(err)
		}
		document, err := documents.Read(changed)
		if err != nil {
			t.Fatal(err)
		}
		chart, err := Chart(document)
		if (err != nil) != change.isError {
			t.Errorf("with %q in place of %q the error is %v", change.new, change.old, err)
		}
		if !change.isError && bytes.Equal(chart, chartOf(t, benchmarks)) {
			t.Errorf("%q in place of %q makes the same chart", change.new, change.old)
		}
	}
}

// TestChartIsLegible computes contrasts as WCAG 2 does, success criteria 1.4.3 (text, 4.5) and 1.4.11 (graphics, 3).
func TestChartIsLegible(t *testing.T) {
	t.Parallel()
	for mode, p := range map[string]palette{"light": light, "dark": dark} {
		back := luminance(t, p.Back)
		for name, limit := range map[string]struct {
			colour string
			least  float64
		}{"text": {p.Text, 4.5}, "own bar": {p.Own, 3}, "other bar": {p.Other, 3}} {
			front := luminance(t, limit.colour)
			if contrast := (max(front, back) + 0.05) / (min(front, back) + 0.05); contrast < limit.least {
				t.Errorf("%s in %s mode has a contrast of %.1f, want %v", name, mode, contrast, limit.least)
			}
		}
	}
}

// luminance is the relative luminance of a colour, #rrggbb, as WCAG 2 defines it.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	number, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	linear := func(shift uint) float64 {
		c := float64(number>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(16) + 0.7152*linear(8) + 0.0722*linear(0)
}

func chartOf(t *testing.T, path string) []byte {
	t.Helper()
	document, err := documents.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	chart, err := Chart(document)
	if err != nil {
		t.Fatal(err)
	}
	return chart
}
