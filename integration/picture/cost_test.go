package picture

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/integration/documents"
)

// ways are the bars of the node's price, all told: rows of the table about ways in docs/benchmarks.txt.
var ways = []struct{ name, class string }{
	{"no probe", "other"},
	{"native", "other"},
	{"bridge in the app's container", "own"},
	{"bridge as a sidecar", "own"},
	{"exec of the probe", "own"},
}

// periods are the columns of that table with a check over plaintext.
var periods = []struct {
	title  string
	column int
}{
	{"CPU time of the node per pod and second, a check every 2 s", 1},
	{"the same, a check every 10 s", 2},
}

// programs are the bars of each measure: the names of the programs in docs/benchmarks.txt, and what they are called in
// the chart. The first one is what the others are compared with.
var programs = []struct{ name, shown, class string }{
	{"grpc-health-probe v0.4.56", "grpc-health-probe v0.4.56", "other"},
	{"lean", "this probe", "own"},
	{"empty Go program", "a Go program that does nothing", "other"},
}

// measures are what is compared: columns of the tables in docs/benchmarks.txt. Tables are told apart by how many
// columns they have; the first one with six is that of the probes without TLS. The size has its ratio in the next
// column.
var measures = []struct {
	title                  string
	columns, column, ratio int
}{
	{"CPU time of one exec, in the container", 6, 2, 2},
	{"resident memory of one exec", 6, 4, 4},
	{"size of the program", 3, 1, 2},
}

// group is a title and its bars, with where they are in the chart.
type group struct {
	Title string
	Bars  []bar
	Y     int
}

// bar is a row of a table by one of its columns.
type bar struct {
	Shown, Class, Value string
	length              float64 // 1 is the whole length
	Y, Top, Width, End  int
}

// Chart returns the chart, an SVG, of what a probe costs. In goes docs/benchmarks.txt.
func Chart(benchmarks *documents.Document) ([]byte, error) {
	groups, err := nodeGroups(benchmarks.Rows)
	if err != nil {
		return nil, err
	}
	for _, m := range measures {
		g := group{Title: m.title}
		var reference string
		for i, p := range programs {
			cells, err := findRow(benchmarks.Rows, "program", p.name, m.columns)
			if err != nil {
				return nil, err
			}
			if i == 0 {
				reference = cells[m.column]
				g.Bars = append(g.Bars, bar{Shown: p.shown, Class: p.class, Value: reference, length: 1})
				continue
			}
			b := bar{Shown: p.shown, Class: p.class}
			if b.length, b.Value, err = relative(cells[m.ratio], reference); err != nil {
				return nil, fmt.Errorf("reading the figure of %q for the chart: %w", p.name, err)
			}
			g.Bars = append(g.Bars, b)
		}
		groups = append(groups, g)
	}
	return chartSVG(groups)
}

// nodeGroups are the bars of what a pod costs its node. The longest of all has the whole length.
func nodeGroups(rows []documents.Row) ([]group, error) {
	var groups []group
	longest := 0.0
	for _, period := range periods {
		g := group{Title: period.title}
		for _, w := range ways {
			cells, err := findRow(rows, "way", w.name, 5)
			if err != nil {
				return nil, err
			}
			b := bar{Shown: w.name, Class: w.class}
			mean, _, _ := strings.Cut(cells[period.column], " ")
			if b.length, err = strconv.ParseFloat(mean, 64); err != nil {
				return nil, fmt.Errorf("reading the figure of %q for the chart: %w", w.name, err)
			}
			b.Value = mean + " ms"
			longest = max(longest, b.length)
			g.Bars = append(g.Bars, b)
		}
		groups = append(groups, g)
	}
	for _, g := range groups {
		for i := range g.Bars {
			g.Bars[i].length /= longest
		}
	}
	return groups, nil
}

// relative reads a ratio to a reference such as 4.159 ms, and writes it as 1.8 ms (0.43 of it).
func relative(cell, reference string) (ratio float64, value string, err error) {
	text, _, _ := strings.Cut(cell, " ")
	if ratio, err = strconv.ParseFloat(text, 64); err != nil {
		return 0, "", err
	}
	number, unit, _ := strings.Cut(reference, " ")
	whole, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, "", err
	}
	return ratio, fmt.Sprintf("%.1f %s (%s of it)", ratio*whole, unit, text), nil
}

// findRow returns the cells of a row in the first table that has it, that first column and that many columns.
func findRow(rows []documents.Row, head, name string, columns int) ([]string, error) {
	at := slices.IndexFunc(rows, func(r documents.Row) bool {
		return r.Head == head && len(r.Cells) == columns && r.Cells[0] == name
	})
	if at < 0 {
		return nil, fmt.Errorf("drawing the chart: no table of %d columns has a row for %q", columns, name)
	}
	return rows[at].Cells, nil
}

// Measures of the chart in pixels.
const (
	chartWidth  = 826
	chartNames  = 290 // where the names end
	chartBars   = 300 // where the bars begin
	chartBar    = 400 // the whole length
	chartLine   = 24
	chartHeight = 14 // of a bar
)

// palette are the colours of one mode.
type palette struct{ Text, Back, Own, Other string }

var (
	light = palette{"#24292f", "#ffffff", "#0969da", "#6e7781"}
	dark  = palette{"#e6edf3", "#0d1117", "#58a6ff", "#8b949e"}
)

//go:embed cost.svg.tmpl
var costTemplate string

// chartSVG lays the groups out below each other.
func chartSVG(groups []group) ([]byte, error) {
	y := margin + fontSize
	for i := range groups {
		g := &groups[i]
		g.Y = y
		for j := range g.Bars {
			y += chartLine
			b := &g.Bars[j]
			b.Y, b.Top, b.Width = y, y-chartHeight+2, int(b.length*chartBar+0.5)
			b.End = chartBars + b.Width + 8
		}
		y += chartLine + chartLine/2
	}
	return fill(costTemplate, map[string]any{
		"Width": chartWidth, "Height": y - chartLine/2 - fontSize + margin, "Margin": margin, "Names": chartNames,
		"Bars": chartBars, "BarHeight": chartHeight, "Light": light, "Dark": dark, "Groups": groups,
	})
}
