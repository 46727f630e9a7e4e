package analyzer_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/detect/tree/target"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// reader is an analyzer that keeps the paths of what it analyzes. Sources with the text "server" are servers, those
// with "listen" say where one listens, and both have the keyword of servers, which is the letter e.
func reader(read *[]string) analyzer.Analyzer {
	return analyzer.New(analyzer.Definition[struct{}]{
		Language: analyzer.Language{Toolchain: target.Toolchain{Extensions: []string{".go"}}},
		MayServe: func(text []byte) bool { return bytes.Contains(text, []byte("e")) },
		Analyze: func(f *tree.File) (*analyzer.Result[struct{}], error) {
			*read = append(*read, f.Path)
			text, err := f.Text()
			var found []finding.Finding
			switch site := finding.AtLine(1, ""); string(text) {
			case "server":
				found = append(found, finding.Server{Site: site})
			case "listen":
				found = append(found, finding.Listener{Site: site})
			}
			return &analyzer.Result[struct{}]{Findings: found}, err
		},
		PostAnalyze: func([]analyzer.File[struct{}], tree.Logf) []plan.Server { return nil },
	})
}

// Neither the sources of an app in another language nor those beside its one listener are analyzed.
func TestSourcesWaitUntilAServerIsFound(t *testing.T) {
	t.Parallel()
	file := func(path, text string) *tree.File { return tree.NewText(path, []byte(text)) }
	for name, test := range map[string]struct {
		files []*tree.File
		want  []string
	}{
		"nothing is found": {[]*tree.File{file("a.go", "port"), file("b.go", "port")}, nil},
		"found before it":  {[]*tree.File{file("a.go", "server"), file("b.go", "port")}, []string{"a.go", "b.go"}},
		"found after it":   {[]*tree.File{file("a.go", "port"), file("b.go", "server")}, []string{"b.go", "a.go"}},
		"a listener alone": {[]*tree.File{file("a.go", "port"), file("b.go", "listen")}, []string{"b.go"}},
		"no source":        {[]*tree.File{file("go.mod", "port")}, []string{"go.mod"}},
	} {
		var read []string
		scan := reader(&read).NewScan()
		for _, f := range test.files {
			if err := scan.Analyze(f); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range test.files {
			if scan.Waits(f.Path) {
				if err := scan.Analyze(f); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !slices.Equal(read, test.want) {
			t.Errorf("%s: %q were analyzed, want %q", name, read, test.want)
		}
	}
}
