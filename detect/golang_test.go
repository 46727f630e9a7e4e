package detect_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/grpc-cnb/health-probe/detect"
)

// Each archive is an app. The lines of its comment that begin with "want:" are the services it holds, in order.
func TestGoSourcesGiveTheirServices(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/go/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			for line := range strings.Lines(string(archive.Comment)) {
				if s, ok := strings.CutPrefix(line, "want: "); ok {
					want += s
				}
			}
			if got := describe(tree(t, unpack(t, archive))); got != want {
				t.Errorf("found:\n%swant:\n%s", got, want)
			}
		})
	}
}

// describe has one line for each service.
func describe(services []detect.Service) string {
	var lines strings.Builder
	for _, s := range services {
		lines.WriteString(s.String())
		if s.Port != 0 {
			fmt.Fprintf(&lines, "; port %d", s.Port)
		}
		lines.WriteByte('\n')
	}
	return lines.String()
}

func unpack(t *testing.T, archive *txtar.Archive) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range archive.Files {
		write(t, filepath.Join(dir, filepath.FromSlash(f.Name)), string(f.Data))
	}
	return dir
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func tree(t testing.TB, dir string) []detect.Service {
	t.Helper()
	services, err := detect.Tree(t.Context(), dir, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	return services
}
