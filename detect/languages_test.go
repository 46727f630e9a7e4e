package detect

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
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

// notByLanguage are files that have names of languages for a reason of their own: in which languages a test lays out
// statements otherwise, which Go compiles the probe, and which folders are packages of the JVM.
var notByLanguage = []string{"analyzer/analyzertest/layouts.go", "buildplan/buildplan.go", "tree/aside.go"}

// A language is added and removed by its folder and its line in the list: no other source has its names, its extensions
// or its commands.
func TestNoSourceKnowsALanguage(t *testing.T) {
	t.Parallel()
	words := map[string]bool{}
	for _, a := range languages {
		t := a.Language().Toolchain
		for _, word := range slices.Concat(t.Languages, t.Extensions, t.ProjectFiles, t.Folders, t.Starts, t.Runtimes) {
			command, _, _ := strings.Cut(word, " ") // of cargo run
			words[command] = true
		}
	}
	check := func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case file == "language":
			return fs.SkipDir
		case filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || slices.Contains(notByLanguage, file):
			return nil
		}
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		ast.Inspect(source, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				if word, err := strconv.Unquote(text.Value); err != nil || words[word] {
					t.Errorf("%s has %s, which belongs to a language", file, text.Value)
				}
			}
			return true
		})
		return err
	}
	for _, dir := range []string{".", "../internal/plan"} {
		if err := filepath.WalkDir(dir, check); err != nil {
			t.Error(err)
		}
	}
}

// An app in a language that is not in the list has no servers.
func TestALanguageCanBeRemoved(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("languages.go")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range regexp.MustCompile(`(?m)^\t(\w+)\.Analyzer,$`).FindAllSubmatch(list, -1) {
		folder, others := string(line[1]), slices.Delete(slices.Clone(languages), i, i+1)
		apps, err := filepath.Glob("language/" + folder + "/testdata/apps/*.txtar")
		if err != nil || len(apps) == 0 {
			t.Errorf("%s has no apps: %v", folder, err)
		}
		for _, app := range apps {
			archive, err := txtar.ParseFile(app)
			if err != nil {
				t.Fatal(err)
			}
			s := newScan(others, func(string, ...any) {})
			for _, f := range archive.Files {
				if s.required(f.Name) {
					s.visit(tree.NewText(f.Name, f.Data))
				}
			}
			s.files.Targets(os.Getenv)
			for _, other := range s.scans {
				for _, server := range other.PostAnalyze(s.logf) {
					t.Errorf("%s has a server in %s without the language", app, server.Language)
				}
			}
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
