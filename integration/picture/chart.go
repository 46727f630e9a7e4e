package picture

import (
	"bytes"
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

// group is a title and its bars.
type group struct {
	title string
	bars  []bar
}

// bar is a row of a table by one of its columns.
type bar struct {
	shown, class string
	length       float64 // 1 is the whole length
	value        string  // as it is written
}

// Chart returns the chart, an SVG, of what a probe costs. In goes docs/benchmarks.txt.
func Chart(benchmarks *documents.Document) ([]byte, error) {
	groups, err := nodeGroups(benchmarks.Rows)
	if err != nil {
		return nil, err
	}
	for _, m := range measures {
		g := group{title: m.title}
		var reference string
		for i, p := range programs {
			cells, err := findRow(benchmarks.Rows, "program", p.name, m.columns)
			if err != nil {
				return nil, err
			}
			if i == 0 {
				reference = cells[m.column]
				g.bars = append(g.bars, bar{p.shown, p.class, 1, reference})
				continue
			}
			b := bar{shown: p.shown, class: p.class}
			if b.length, b.value, err = relative(cells[m.ratio], reference); err != nil {
				return nil, fmt.Errorf("reading the figure of %q for the chart: %w", p.name, err)
			}
			g.bars = append(g.bars, b)
		}
		groups = append(groups, g)
	}
	return chartSVG(groups), nil
}

// nodeGroups are the bars of what a pod costs its node. The longest of all has the whole length.
func nodeGroups(rows []documents.Row) ([]group, error) {
	var groups []group
	longest := 0.0
	for _, period := range periods {
		g := group{title: period.title}
		for _, w := range ways {
			cells, err := findRow(rows, "way", w.name, 5)
			if err != nil {
				return nil, err
			}
			b := bar{shown: w.name, class: w.class}
			mean, _, _ := strings.Cut(cells[period.column], " ")
			if b.length, err = strconv.ParseFloat(mean, 64); err != nil {
				return nil, fmt.Errorf("reading the figure of %q for the chart: %w", w.name, err)
			}
			b.value = mean + " ms"
			longest = max(longest, b.length)
			g.bars = append(g.bars, b)
		}
		groups = append(groups, g)
	}
	for _, g := range groups {
		for i := range g.bars {
			g.bars[i].length /= longest
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
	chartNames  = 300 // where the names end and the bars begin
	chartBar    = 400 // the whole length
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

func chartSVG(groups []group) []byte {
	var words []string
	height := 2*margin + (len(groups)-1)*chartLine/2
	for _, g := range groups {
		var values []string
		for _, b := range g.bars {
			values = append(values, b.shown+" "+b.value)
		}
		words = append(words, g.title+": "+strings.Join(values, ", ")+".")
		height += (len(g.bars) + 1) * chartLine
	}
	style := func(pick func(colour) string) string {
		return fmt.Sprintf(chartStyle, pick(textColour), pick(backColour), pick(ownColour), pick(otherColour))
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d"`, chartWidth,
		height, chartWidth, height)
	fmt.Fprintf(&out, " role=\"img\" aria-labelledby=\"title desc\">\n")
	fmt.Fprintf(&out, "<!-- Made by scripts/picture.sh cost of the figures in docs/benchmarks.txt. -->\n")
	fmt.Fprintf(&out, "<title id=\"title\">What a probe costs</title>\n<desc id=\"desc\">%s</desc>\n",
		escape(strings.Join(words, " ")))
	fmt.Fprintf(&out, "<style>%s  @media (prefers-color-scheme: dark) {%s  }\n</style>\n",
		style(func(c colour) string { return c.light }), style(func(c colour) string { return c.dark }))
	fmt.Fprintf(&out, `<rect class="back" width="%d" height="%d" rx="8"/>`+"\n", chartWidth, height)
	y := margin + fontSize
	for _, g := range groups {
		fmt.Fprintf(&out, `<text class="title" x="%d" y="%d">%s</text>`+"\n", margin, y, escape(g.title))
		for _, b := range g.bars {
			y += chartLine
			length := int(b.length*chartBar + 0.5)
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
