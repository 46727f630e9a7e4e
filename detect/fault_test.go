package detect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

func TestFaultOfAnAnalyzerCostsTheFileAlone(t *testing.T) {
	t.Parallel()
	var analyzed, logged []string
	definition := analyzer.Definition[struct{}]{
		Required: func(path string) bool { return strings.HasSuffix(path, ".x") },
		MayServe: func([]byte) bool { return true },
		Analyze: func(f *tree.File) (*analyzer.Result[struct{}], error) {
			if f.Path == "bad.x" {
				panic("index out of range")
			}
			analyzed = append(analyzed, f.Path)
			return nil, nil
		},
	}
	s := newScan([]analyzer.Analyzer{analyzer.New(definition)}, func(format string, args ...any) {
		logged = append(logged, fmt.Sprintf(format, args...))
	})
	for _, path := range []string{"bad.x", "good.x"} {
		s.visit(tree.NewText(path, []byte("text")))
	}
	if got := strings.Join(analyzed, " "); got != "good.x" {
		t.Errorf("analyzed: %q, want good.x", got)
	}
	want := "bad.x: leaving out the file, by a fault of this buildpack: index out of range"
	if got := strings.Join(logged, "\n"); got != want {
		t.Errorf("the log is %q, want %q", got, want)
	}
	want = "files left out by a fault of this buildpack: 1, the first one bad.x; report it with what " +
		"BP_LOG_LEVEL=DEBUG prints"
	if got := strings.Join(s.faults(), "\n"); got != want {
		t.Errorf("the user is told %q, want %q", got, want)
	}
}
