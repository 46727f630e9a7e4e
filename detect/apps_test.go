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
func TestAppsGiveTheirServices(t *testing.T) {
	t.Parallel()
	for _, path := range archives(t) {
		name := strings.TrimSuffix(strings.TrimPrefix(path, "testdata/apps/"), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive, want := app(t, path)
			if got := describe(tree(t, unpack(t, archive))); got != want {
				t.Errorf("found:\n%swant:\n%s", got, want)
			}
		})
	}
}

func archives(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/apps/*/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	return paths
}

// app returns an archive, and the services that it is said to hold.
func app(t *testing.T, path string) (*txtar.Archive, string) {
	t.Helper()
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
	return archive, want
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

// A framework that the documents name has an app that serves with it and one that only calls.
func TestEveryFrameworkHasAServerAndAClientTwin(t *testing.T) {
	t.Parallel()
	serves := map[string]bool{}
	for _, path := range archives(t) {
		archive, _ := app(t, path)
		for _, s := range tree(t, unpack(t, archive)) {
			serves[s.Framework] = true
		}
	}
	for _, name := range detect.FrameworkNames() {
		if !serves[name] {
			t.Errorf("no app in testdata/apps serves with %s", name)
		}
		slug := strings.NewReplacer("-", "", " ", "", ".", "").Replace(strings.ToLower(name))
		twins, _ := filepath.Glob("testdata/apps/*/" + slug + "_client*.txtar")
		if len(twins) == 0 {
			t.Errorf("no app testdata/apps/*/%s_client.txtar", slug)
		}
		for _, path := range twins {
			if _, want := app(t, path); want != "" {
				t.Errorf("%s is a client's, and wants %s", path, want)
			}
		}
	}
}
