package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

// report is all measurements. String returns the report in Markdown.
type report struct {
	machine   string
	config    config
	protocols []protocol
	results   results
	limited   limited
}

// introduction takes the machine, the number of rounds and the name of the reference.
const introduction = `# What one exec of the probe costs

scripts/bench.sh measured this on %s, against a grpc-go server on loopback in a process of its own.
All programs took turns in random order, %d times. Costs are relative to **%s** in the same round: the median,
then the quartiles. The first row has the reference's own medians. "Lean" and "full" are this product's probes. Two
programs that do nothing are the floor: the empty one is what any Go program costs; the idle one also links crypto/tls,
whose packages initialise in every process, so it is what a Go program costs that can verify a certificate.

`

func (r report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, introduction, r.machine, r.config.runs, r.config.reference().name)
	r.sizes(&b)
	for _, p := range r.protocols {
		fmt.Fprintf(&b, "\n## Over %s\n\n", p.Name)
		r.costs(&b, p.Name)
		r.wallUnderLimits(&b, p.Name)
		r.leastMemory(&b, p.Name)
	}
	for _, err := range r.limited.leftOut {
		fmt.Fprintf(&b, "\nLeft out on this machine: %v.\n", err)
	}
	return b.String()
}

func machine() string {
	return fmt.Sprintf("linux/%s, %d processors (%s), with %s", runtime.GOARCH, runtime.NumCPU(), processor(),
		runtime.Version())
}

// processor returns the name of the processor, which is missing from /proc/cpuinfo on some architectures.
func processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range bytes.Lines(info) {
		if key, value, _ := strings.Cut(string(line), ":"); strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "of unknown make"
}

func row(b *strings.Builder, cells ...string) { fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | ")) }

// head writes the head of a table. All columns but the first hold numbers.
func head(b *strings.Builder, cells ...string) {
	row(b, cells...)
	fmt.Fprintf(b, "| --- |%s\n", strings.Repeat(" ---: |", len(cells)-1))
}

// ordered returns the programs, the reference first and the floors last.
func (r report) ordered() []program {
	others := r.config.programs[:len(r.config.programs)-1]
	return slices.Concat([]program{r.config.reference()}, others, r.config.floors)
}

func (r report) sizes(b *strings.Builder) {
	head(b, "program", "size", "ratio")
	for _, p := range r.ordered() {
		row(b, p.name, fmt.Sprintf("%.2f MB", float64(p.size)/1e6),
			fmt.Sprintf("%.2f", float64(p.size)/float64(r.config.reference().size)))
	}
}

// costs writes the medians of the reference in the first row, and ratios to the medians below.
func (r report) costs(b *strings.Builder, protocol string) {
	names := []string{"program"}
	for _, m := range metrics {
		names = append(names, m.name)
	}
	head(b, names...)
	reference := subject{r.config.reference().name, protocol}
	for i, p := range r.ordered() {
		cells := []string{p.name}
		for metric := range metrics {
			if i == 0 {
				cells = append(cells, metrics[metric].format(median(r.results.values(reference, metric))))
			} else {
				cells = append(cells, spread(r.results.ratios(subject{p.name, protocol}, reference, metric)))
			}
		}
		row(b, cells...)
	}
}

func (m metric) format(value float64) string { return fmt.Sprintf("%.4g%s", value/m.per, m.unit) }

func spread(ratios []float64) string {
	return fmt.Sprintf("%.2f (%.2f to %.2f)", median(ratios), quantile(ratios, 0.25), quantile(ratios, 0.75))
}

// wallUnderLimits and leastMemory write nothing if nothing could be limited.
func (r report) wallUnderLimits(b *strings.Builder, protocol string) {
	if r.limited.wall == nil {
		return
	}
	b.WriteString("\nWall time under a limit of CPU time, in thousandths of a processor: the median, " +
		"then the 90th percentile.\n\n")
	names := []string{"program"}
	for _, limit := range cpuLimits {
		names = append(names, fmt.Sprintf("%dm", limit))
	}
	head(b, names...)
	for _, p := range r.ordered() {
		cells := []string{p.name}
		for _, limit := range cpuLimits {
			walls := r.limited.wall[subject{p.name, protocol}][limit]
			cells = append(cells, fmt.Sprintf("%.1f ms (%.1f)", median(walls)*1e3, quantile(walls, 0.9)*1e3))
		}
		row(b, cells...)
	}
}

func (r report) leastMemory(b *strings.Builder, protocol string) {
	if r.limited.memory == nil {
		return
	}
	fmt.Fprintf(b, "\nThe least limit of memory under which %d runs in a row pass.\n\n", passesNeeded)
	head(b, "program", "limit")
	for _, p := range r.ordered() {
		row(b, p.name, fmt.Sprintf("%d MiB", r.limited.memory[subject{p.name, protocol}]))
	}
}
