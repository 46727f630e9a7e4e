package picture

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/integration/documents"
)

// programs are the bars of each measure: the names of the programs in docs/benchmarks.md, and what they are called in
// the chart. The first one is what the others are compared with.
var programs = []struct{ name, shown, class string }{
	{"grpc-health-probe v0.4.56", "grpc-health-probe v0.4.56", "other"},
	{"lean", "this probe", "own"},
	{"empty Go program", "a Go program that does nothing", "other"},
}

// measures are what is compared: columns of the tables in docs/benchmarks.md. Tables are told apart by how many columns
// they have; the first one with six is that of the probes without TLS.
var measures = []struct {
	title           string
	columns, column int
}{
	{"CPU time of one check", 6, 2},
	{"resident memory of one check", 6, 4},
	{"size of the program", 3, 1},
}

// bar is a program by one measure.
type bar struct {
	shown, class string
	ratio        float64 // to the first program
	value        string  // as it is written
}

// Chart returns the chart, an SVG, of what a check costs. In goes docs/benchmarks.md.
func Chart(benchmarks *documents.Document) ([]byte, error) {
	var groups [][]bar
	for _, m := range measures {
		var bars []bar
		for _, p := range programs {
			cells, err := findRow(benchmarks.Rows, p.name, m.columns)
			if err != nil {
				return nil, err
			}
			b := bar{shown: p.shown, class: p.class, ratio: 1, value: cells[m.column]}
			// The tables have the first program's own figures, and of the others how many times that it is. The size
			// has its ratio in a column of its own.
			if len(bars) > 0 {
				at := m.column
				if m.columns == 3 {
					at++
				}
				b.value, _, _ = strings.Cut(cells[at], " ")
				if b.ratio, err = strconv.ParseFloat(b.value, 64); err != nil {
					return nil, fmt.Errorf("reading the figure of %q for the chart: %w", p.name, err)
				}
			}
			bars = append(bars, b)
		}
		groups = append(groups, bars)
	}
	return chartSVG(groups), nil
}

// findRow returns the cells of a program in the first table that has it and that many columns.
func findRow(rows []documents.Row, program string, columns int) ([]string, error) {
	at := slices.IndexFunc(rows, func(r documents.Row) bool {
		return r.Head == "program" && len(r.Cells) == columns && r.Cells[0] == program
	})
	if at < 0 {
		return nil, fmt.Errorf("drawing the chart: no table of %d columns has a row for %q", columns, program)
	}
	return rows[at].Cells, nil
}

// Measures of the chart in pixels.
const (
	chartWidth  = 826
	chartNames  = 300 // where the names end and the bars begin
	chartBar    = 400 // the length of the bar for 1
	chartLine   = 24
	chartHeight = 14 // of a bar
)

// colour is one for light and one for dark mode.
type colour struct{ light, dark string }

var (
	backColour  = colour{"#ffffff", "#0d1117"}
	textColour  = colour{"#24292f", "#e6edf3"}
	ownColour   = colour{"#0969da", "#58a6ff"}
	otherColour = colour{"#6e7781", "#8b949e"}
)

const chartStyle = `
  text { font: 14px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: %s }
  .title { font-weight: bold }
  .back { fill: %s }
  .own { fill: %s }
  .other { fill: %s }
`

func chartSVG(groups [][]bar) []byte {
	var words []string
	for i, bars := range groups {
		words = append(words, fmt.Sprintf("%s: %s %s, %s %s of that, %s %s of that.", measures[i].title,
			bars[0].shown, bars[0].value, bars[1].shown, bars[1].value, bars[2].shown, bars[2].value))
	}
	height := 2*margin + len(groups)*(len(programs)+1)*chartLine + (len(groups)-1)*chartLine/2
	style := func(pick func(colour) string) string {
		return fmt.Sprintf(chartStyle, pick(textColour), pick(backColour), pick(ownColour), pick(otherColour))
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d"`, chartWidth,
		height, chartWidth, height)
	fmt.Fprintf(&out, " role=\"img\" aria-labelledby=\"title desc\">\n")
	fmt.Fprintf(&out, "<!-- Made by scripts/picture.sh cost of the figures in docs/benchmarks.md. -->\n")
	fmt.Fprintf(&out, "<title id=\"title\">What a check costs</title>\n<desc id=\"desc\">%s</desc>\n",
		escape(strings.Join(words, " ")))
	fmt.Fprintf(&out, "<style>%s  @media (prefers-color-scheme: dark) {%s  }\n</style>\n",
		style(func(c colour) string { return c.light }), style(func(c colour) string { return c.dark }))
	fmt.Fprintf(&out, `<rect class="back" width="%d" height="%d" rx="8"/>`+"\n", chartWidth, height)
	y := margin + fontSize
	for i, bars := range groups {
		fmt.Fprintf(&out, `<text class="title" x="%d" y="%d">%s</text>`+"\n", margin, y, escape(measures[i].title))
		for _, b := range bars {
			y += chartLine
			length := int(b.ratio*chartBar + 0.5)
			fmt.Fprintf(&out, `<text x="%d" y="%d" text-anchor="end">%s</text>`, chartNames-10, y, escape(b.shown))
			fmt.Fprintf(&out, `<rect class="%s" x="%d" y="%d" width="%d" height="%d"/>`, b.class, chartNames,
				y-chartHeight+2, length, chartHeight)
			fmt.Fprintf(&out, `<text x="%d" y="%d">%s</text>`+"\n", chartNames+length+8, y, escape(b.value))
		}
		y += chartLine + chartLine/2
	}
	out.WriteString("</svg>\n")
	return out.Bytes()
}
