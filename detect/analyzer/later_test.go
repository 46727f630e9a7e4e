package analyzer_test

import (
	"bytes"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// asker is an analyzer whose sources with the text "server" have a finding, and that reads the others later.
func asker(read *[]string) analyzer.Analyzer {
	return analyzer.New(analyzer.Definition[struct{}]{
		Analyze: func(f *tree.File) (*analyzer.Result[struct{}], error) {
			text, err := f.Text()
			if bytes.Equal(text, []byte("server")) {
				site := finding.AtLine(1, "")
				return &analyzer.Result[struct{}]{Findings: []finding.Finding{finding.Health{Site: site}}}, err
			}
			return analyzer.Later(text, func(text []byte) *analyzer.Result[struct{}] {
				*read = append(*read, string(text))
				return nil
			}), err
		},
		PostAnalyze: func([]analyzer.File[struct{}], tree.Logf) []plan.Server { return nil },
	})
}

func TestSourcesAreReadLaterIfSomethingIsFound(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		texts []string
		want  int
	}{
		"nothing is found":     {[]string{"one", "two"}, 0},
		"found before them":    {[]string{"server", "one"}, 1},
		"found after them":     {[]string{"one", "server"}, 1},
		"found, and no others": {[]string{"server"}, 0},
	} {
		var read []string
		scan := asker(&read).NewScan()
		for _, text := range test.texts {
			lent := []byte(text)
			if err := scan.Analyze(tree.NewText(name, lent)); err != nil {
				t.Fatal(err)
			}
			clear(lent) // as the next file is read to the same memory
		}
		scan.PostAnalyze(func(string, ...any) {})
		if len(read) != test.want || test.want > 0 && read[0] != "one" {
			t.Errorf("%s: %q were read, want %d", name, read, test.want)
		}
	}
}
