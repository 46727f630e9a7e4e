package detect

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
)

// A language that is not in the list is not analyzed, and one without these tests is not held to what all languages
// hold.
func TestEachLanguageIsListedAndTested(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("languages.go")
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := filepath.Glob("language/*")
	if err != nil || len(dirs) != len(languages) {
		t.Errorf("there are %d languages in the list and %d folders below detect/language: %v", len(languages),
			len(dirs), err)
	}
	for _, dir := range dirs {
		name := filepath.Base(dir)
		if !strings.Contains(string(list), "\t"+name+".Analyzer,\n") {
			t.Errorf("detect/languages.go does not list %s.Analyzer", name)
		}
		tests := testsOf(t, dir)
		calls := []string{`analyzertest\.Apps\(`, `analyzertest\.Repetitive\(`, `func Fuzz\w+\(`}
		if name != "golang" { // go/parser knows where a statement ends
			calls = append(calls, `analyzertest\.Layouts\(`)
		}
		for _, call := range calls {
			if !regexp.MustCompile(call).MatchString(tests) {
				t.Errorf("no test in detect/%s has %s", dir, call)
			}
		}
	}
}

// testsOf returns the text of the tests in a folder.
func testsOf(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// The plan and the documents tell languages and frameworks apart by their names.
func TestNamesOfLanguagesAndFrameworksAreTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, a := range languages {
		l := a.Language()
		names := []string{l.Name}
		for name := range l.Others {
			names = append(names, name)
		}
		for _, name := range names {
			if seen[name] || name == "" {
				t.Errorf("two languages are called %q, or one has no name", name)
			}
			seen[name] = true
		}
		frameworks := map[string]bool{}
		for _, f := range l.Frameworks {
			if frameworks[f.Name] || f.Name == "" || f.Evidence == "" || f.Health == "" {
				t.Errorf("framework %+v of %s has no name, evidence or health, or is there twice", f, l.Name)
			}
			frameworks[f.Name] = true
		}
	}
}

// However many languages there are, none is left out.
func TestMoreThanSixtyFourLanguagesAreAllAsked(t *testing.T) {
	t.Parallel()
	many := slices.Repeat([]analyzer.Analyzer{languages[0]}, 70)
	many = append(many, goAnalyzer(t))
	s := newScan(many, func(string, ...any) {})
	if !s.required("main.go") || len(s.scans) != 71 {
		t.Error("the last language is not asked")
	}
}

func goAnalyzer(t *testing.T) analyzer.Analyzer {
	t.Helper()
	i := slices.IndexFunc(languages, func(a analyzer.Analyzer) bool { return a.Language().Name == "go" })
	if i < 0 {
		t.Fatal("there is no analyzer for Go")
	}
	return languages[i]
}
