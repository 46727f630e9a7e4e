package documents_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/documents"
)

// nodeFigures are lines, or parts of lines, by the documents that have them. Braces stand for a figure of the table
// about ways in docs/benchmarks.txt: a row, and a column. A line with a figure that is not measured is not wanted.
var nodeFigures = map[string][]string{
	"docs/benchmarks.md": {
		"| none | {no probe|2} | {no probe|10} | {no probe|2, mTLS} | {no probe|10, mTLS} |",
		"| native | {native|2} | {native|10} |",
		"| bridge in the app's container | {bridge in the app's container|2} | {bridge in the app's container|10} | " +
			"{bridge in the app's container|2, mTLS} | {bridge in the app's container|10, mTLS} |",
		"| bridge as a sidecar | {bridge as a sidecar|2} | {bridge as a sidecar|10} | " +
			"{bridge as a sidecar|2, mTLS} | {bridge as a sidecar|10, mTLS} |",
		"| exec of the probe | {exec of the probe|2} | {exec of the probe|10} | {exec of the probe|2, mTLS} | " +
			"{exec of the probe|10, mTLS} |",
	},
	"README.md": {
		"| {native|2} ms | {native|10} ms |",
		"| {bridge in the app's container|2} ms | {bridge in the app's container|10} ms |",
		"| {bridge as a sidecar|2} ms | {bridge as a sidecar|10} ms |",
		"| {exec of the probe|2} ms | {exec of the probe|10} ms |",
		"a pod without a probe costs {no probe|2} ms",
	},
}

var nodeFigure = regexp.MustCompile(`\{([^|}]+)\|([^}]+)\}`)

// TestFiguresOfTheNode makes sure that what a pod costs its node is the same in all documents.
func TestFiguresOfTheNode(t *testing.T) {
	t.Parallel()
	measured := map[string]string{}
	for _, row := range must(documents.Read(filepath.Join(repository, "docs/benchmarks.txt")))(t).Rows {
		if row.Head != "way" || len(row.Cells) != 5 {
			continue
		}
		for i, column := range []string{"2", "10", "2, mTLS", "10, mTLS"} {
			cell := row.Cells[1+i]
			if median, _, isMeasured := strings.Cut(cell, " ("); isMeasured {
				cell = median
			}
			measured["{"+row.Cells[0]+"|"+column+"}"] = cell
		}
	}
	for path, lines := range nodeFigures {
		text := string(must(documents.Read(filepath.Join(repository, path)))(t).Text)
		for _, line := range lines {
			want := nodeFigure.ReplaceAllStringFunc(line, func(figure string) string {
				if measured[figure] == "" {
					t.Errorf("docs/benchmarks.txt has no figure %s", figure)
				}
				return measured[figure]
			})
			if !strings.Contains(want, "not measured") && !strings.Contains(text, want) {
				t.Errorf("by docs/benchmarks.txt, %s has to have %q", path, want)
			}
		}
	}
}
