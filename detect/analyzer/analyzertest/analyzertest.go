// Package analyzertest holds the tests for every language. A language calls the tests with its definition: [Apps] for
// its example apps, [Layouts] for the same apps with another layout, [Repetitive] for sources made to take long,
// [FuzzSource] for any bytes.
package analyzertest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Apps tests a language with the archives testdata/apps/*.txtar. Each archive is an app. The lines "want: " in an
// archive's comment are the servers of the app, in order; UPDATE_GOLDEN=1 writes them.
//
// Every framework of the language needs an app that serves with the framework, and a twin FRAMEWORK_client.txtar that
// only calls. A language must not keep the bytes of a file's text: the text of the next file overwrites the bytes.
func Apps[T any](t *testing.T, d analyzer.Definition[T]) {
	serves := map[string]bool{}
	proved := proofs{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, path := range archives(t) {
		archive, want := readArchive(t, path)
		var evidence lines
		servers := scan(t, analyzer.New(d), unpack(t, archive), evidence.addf)
		for _, s := range servers {
			serves[s.Framework] = true
			proved.server(s, archive, filepath.Base(path))
		}
		keywordsIn(proved, d, archive)
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			if got := Describe(servers); got != want && !updateWant(t, path, archive, got) {
				t.Errorf("found:\n%swant:\n%s%s\n(UPDATE_GOLDEN=1 writes what was found)", got, want,
					strings.Join(evidence, "\n"))
			}
			keepsNoText(t, d, archive)
		})
	}
	for _, f := range d.Frameworks {
		if !serves[f.Name] {
			t.Errorf("no app in testdata/apps serves with %s", f.Name)
		}
		clientTwins(t, f.Name)
		proved.check(t, f)
	}
}

func archives(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/apps/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no archives testdata/apps/*.txtar: %v", err)
	}
	return paths
}

// clientTwins checks that a framework has apps with clients, and that those apps want no server.
func clientTwins(t *testing.T, framework string) {
	t.Helper()
	slug := nameInPaths(framework)
	twins, _ := filepath.Glob("testdata/apps/" + slug + "_client*.txtar")
	if len(twins) == 0 {
		t.Errorf("there is no app testdata/apps/%s_client.txtar", slug)
	}
	for _, path := range twins {
		if _, want := readArchive(t, path); want != "" {
			t.Errorf("%s is a client's, and wants %s", path, want)
		}
	}
}

// nameInPaths returns the start of the archive names for a framework.
func nameInPaths(framework string) string {
	return strings.NewReplacer("-", "", " ", "", ".", "").Replace(strings.ToLower(framework))
}

// keepsNoText analyzes each file of an app twice, and overwrites the text after the first time.
func keepsNoText[T any](t *testing.T, d analyzer.Definition[T], archive *txtar.Archive) {
	t.Helper()
	for _, f := range archive.Files {
		if !d.Required(f.Name) {
			continue
		}
		lent := bytes.Clone(f.Data)
		got, _ := d.Analyze(tree.NewText(f.Name, lent))
		clear(lent)
		if want, _ := d.Analyze(tree.NewText(f.Name, f.Data)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the result refers to bytes of the text, or differs from time to time", f.Name)
		}
	}
}

// lines are the evidence in the log of a scan.
type lines []string

func (l *lines) addf(format string, args ...any) { *l = append(*l, fmt.Sprintf(format, args...)) }

// Scan returns the servers that an analyzer finds in an app, and logs the evidence.
func Scan(t testing.TB, a analyzer.Analyzer, dir string) []plan.Server {
	t.Helper()
	return scan(t, a, dir, t.Logf)
}

func scan(t testing.TB, a analyzer.Analyzer, dir string, logf func(format string, args ...any)) []plan.Server {
	t.Helper()
	logf = tree.Serialize(logf)
	scan := a.NewScan()
	for _, required := range []func(path string) bool{a.Required, scan.Waits} {
		err := tree.Walk(t.Context(), dir, tree.Visitor{Required: required, Visit: func(f *tree.File) {
			if err := scan.Analyze(f); err != nil {
				logf("%s: %s", f.Path, err)
			}
		}}, logf)
		if err != nil {
			t.Fatal(err)
		}
	}
	servers := scan.PostAnalyze(logf)
	plan.Sort(servers)
	return servers
}

// Describe returns a line for each server.
func Describe(servers []plan.Server) string {
	var lines strings.Builder
	for _, s := range servers {
		lines.WriteString(s.String() + "\n")
	}
	return lines.String()
}

// readArchive returns an archive, and the servers in the "want: " lines of its comment.
func readArchive(t *testing.T, path string) (*txtar.Archive, string) {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for line := range strings.Lines(string(archive.Comment)) {
		if s, ok := strings.CutPrefix(line, "want: "); ok {
			want.WriteString(s)
		}
	}
	return archive, want.String()
}

// updateWant writes the servers into the comment of an archive, and returns true, if UPDATE_GOLDEN is set.
func updateWant(t *testing.T, path string, archive *txtar.Archive, servers string) bool {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") == "" {
		return false
	}
	var comment strings.Builder
	for line := range strings.Lines(string(archive.Comment)) {
		if !strings.HasPrefix(line, "want: ") {
			comment.WriteString(line)
		}
	}
	for line := range strings.Lines(servers) {
		comment.WriteString("want: " + line)
	}
	archive.Comment = []byte(comment.String())
	if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
	return true
}

func unpack(t *testing.T, archive *txtar.Archive) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range archive.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Repetition is a source made to take long: Head, for which the analyzer reads the file, and then a unit over and over.
type Repetition struct {
	Path, Head string
	Units      []string
}

const (
	// repetitiveSize is the size of a repetitive source in bytes.
	repetitiveSize = 8 << 10
	// maxReads bounds how often a search may read each byte of a source on average. Searches of real patterns read a
	// byte once or a few times; a search in quadratic time reads each byte hundreds of times.
	maxReads = 16
)

// Repetitive tests that no search of a language takes time quadratic in the size of a source, by a count of the bytes
// read. Without the race detector, it also tests that the whole cost of a source is not quadratic.
func Repetitive[T any](t *testing.T, d analyzer.Definition[T], sources ...Repetition) {
	for _, s := range sources {
		for _, unit := range s.Units {
			if !underRace {
				grows(t, d, s, unit)
			}
		}
	}
	source.LimitSearches(maxReads)
	defer source.LimitSearches(0)
	for _, s := range sources {
		if !d.Required(s.Path) {
			t.Errorf("%s is not required, so nothing is tested", s.Path)
		}
		for _, unit := range s.Units {
			repeat(t, d, s, unit)
		}
	}
}

func repeat[T any](t *testing.T, d analyzer.Definition[T], s Repetition, unit string) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: repeating %q: %v", s.Path, unit, p)
		}
	}()
	// An error is no failure: many units are no code.
	_, _ = d.Analyze(tree.NewText(s.Path, repeated(s, unit, repetitiveSize)))
}

// FuzzSource fuzzes the analysis of a file with a path: no panic, each finding on a line of the file, only possible
// ports.
func FuzzSource[T any](f *testing.F, d analyzer.Definition[T], path string, seeds ...string) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		result, err := d.Analyze(tree.NewText(path, text))
		if result != nil {
			CheckPlaces(t, text, result.Findings)
		}
		if err != nil && result != nil && len(result.Findings) > 0 {
			t.Errorf("a file that is left out (%v) has findings %v", err, result.Findings)
		}
	})
}

// CheckPlaces checks that each finding is on a line of the text, and that each listener has a possible port.
func CheckPlaces(t *testing.T, text []byte, findings []finding.Finding) {
	t.Helper()
	lines := bytes.Count(text, []byte("\n")) + 1
	for _, f := range findings {
		l, isListener := f.(finding.Listener)
		_, isHealth := f.(finding.Health)
		proves := isHealth || finding.FrameworkOf(f) != "" // findings of settings may be about a whole file
		if port := l.Address.Port; isListener && (port < 0 || port > 65535) {
			t.Errorf("a listener has port %d: %+v", port, f)
		}
		if line := finding.Where(f).Line; line < 0 || line > lines || line == 0 && proves {
			t.Errorf("finding %+v in a file of %d lines", f, lines)
		}
	}
}
