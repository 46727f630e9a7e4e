package picture

import (
	"bytes"
	"encoding/xml"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/documents"
)

const (
	benchmarks = "../../docs/benchmarks.md"
	chartFile  = "../../docs/cost.svg"
)

// TestChartHasTheFigures compares the chart in the README with what docs/benchmarks.md says. UPDATE_GOLDEN=1 draws it.
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
		t.Errorf("%s is not what %s says: scripts/picture.sh cost draws it", chartFile, benchmarks)
	}
}

// TestChartBars reads the chart back: each bar is as long as the figure behind it says.
func TestChartBars(t *testing.T) {
	t.Parallel()
	var chart struct {
		Bars []struct {
			Class string  `xml:"class,attr"`
			Width float64 `xml:"width,attr"`
		} `xml:"rect"`
		Texts []string `xml:"text"`
	}
	if err := xml.Unmarshal(chartOf(t, benchmarks), &chart); err != nil {
		t.Fatal(err)
	}
	bars := chart.Bars[1:] // after the background
	if len(bars) != 9 || len(chart.Texts) != 3+2*len(bars) {
		t.Fatalf("the chart has %d bars and %d texts", len(bars), len(chart.Texts))
	}
	for i, bar := range bars {
		value := chart.Texts[i/3+1+2*i+1] // behind a title for each three bars, and each bar's name
		ratio, err := strconv.ParseFloat(value, 64)
		if isReference := i%3 == 0; isReference {
			ratio = 1
		} else if err != nil {
			t.Fatalf("the figure of bar %d is %q", i, value)
		}
		if math.Abs(bar.Width/bars[i/3*3].Width-ratio) > 0.005 {
			t.Errorf("bar %d is %v wide, that of the reference %v, and the figure is %s", i, bar.Width,
				bars[i/3*3].Width, value)
		}
		if isOwn := i%3 == 1; isOwn != (bar.Class == "own") {
			t.Errorf("bar %d has the class %q", i, bar.Class)
		}
	}
}

func TestChartFollowsTheFigures(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(benchmarks)
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(t.TempDir(), "benchmarks.md")
	for _, change := range []struct {
		old, new string
		isError  bool
	}{
		{"0.43 (0.39 to 0.47)", "0.93 (0.39 to 0.47)", false},
		{"| lean |", "| leaner |", true},
		{"0.10 |", "a tenth |", true},
	} {
		other := strings.ReplaceAll(string(text), change.old, change.new)
		if err := os.WriteFile(changed, []byte(other), 0o600); err != nil {
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
	for mode, pick := range map[string]func(colour) string{
		"light": func(c colour) string { return c.light }, "dark": func(c colour) string { return c.dark },
	} {
		back := luminance(t, pick(backColour))
		for name, limit := range map[string]struct {
			colour colour
			least  float64
		}{"text": {textColour, 4.5}, "own bar": {ownColour, 3}, "other bar": {otherColour, 3}} {
			front := luminance(t, pick(limit.colour))
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
