// Package python recognizes gRPC servers in Python: those of grpcio, and of frameworks that stand on it or beside it.
//
// Begin with [Analyzer]. A server is recognized by the names that a source uses (rules.go), after its imports have said
// what each name stands for (imports.go).
package python

import (
	"bytes"
	"errors"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

// Analyzer recognizes gRPC servers in Python.
var Analyzer = analyzer.New(definition)

var definition = analyzer.Definition[extra]{
	Language:    analyzer.Language{Name: "python", Title: "Python", Frameworks: frameworks},
	Required:    required,
	Analyze:     analyze,
	PostAnalyze: postAnalyze,
}

// extra is what a file tells beside its findings.
type extra struct {
	// CustomHealth says that the file is generated code of a service Health that is not grpc.health.v1's.
	CustomHealth bool
	// TestFiles are the files that a BUILD file of Bazel declares for tests only.
	TestFiles []string
}

// manifests are the files that make a directory a project: of pyproject.toml's tools, setuptools, pip and pipenv.
var manifests = []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"}

// otherDirs are directories whose code is in no program of the app: tests (pytest's, unittest's and common names), what
// package managers install, and vendored copies.
var otherDirs = []string{
	"test", "tests", "testing", "testsuite", "testdata", "test_data", "testutil", "testutils", "test_util",
	"test_utils", "test_helpers", "e2e", "mock", "mocks", "site-packages", "dist-packages", "__pypackages__", "_vendor",
	"third_party", "thirdparty",
}

// otherDirSuffixes are how names of further such directories end: "integration_tests", and the metadata of setuptools.
var otherDirSuffixes = []string{"_test", "_tests", "-test", "-tests", ".egg", ".egg-info", ".dist-info"}

// grpcLibrary matches the files of grpcio's own packages that construct servers or register services. They may have
// been copied to any directory of the app (pip install -t).
var grpcLibrary = regexp.MustCompile(`(?:^|/)(?:grpc/(?:_|aio/|beta/|experimental/|framework/)|` +
	`grpc_(?:health|reflection|status|channelz|testing|tools)/)`)

func required(file string) bool {
	switch path.Ext(file) {
	case ".py":
		return !isTestModule(path.Base(file)) && isAppCode(file)
	case ".toml", ".cfg", ".txt":
		return slices.Contains(manifests, path.Base(file)) && isAppCode(file)
	case "":
		// A program, whose first line names the interpreter, or a Pipfile, or Bazel's BUILD.
		return isAppCode(file)
	}
	return tree.IsBazelFile(file)
}

// isTestModule reports whether a file has the name of a test: pytest's default python_files, conftest.py, or Django's
// tests.py.
func isTestModule(name string) bool {
	return name == "test.py" || name == "tests.py" || name == "conftest.py" || strings.HasPrefix(name, "test_") ||
		strings.HasSuffix(name, "_test.py") || strings.HasSuffix(name, "_tests.py")
}

// isAppCode reports whether a file lies where the app's own programs lie. Setuptools writes its output to build/lib.
func isAppCode(file string) bool {
	if strings.HasPrefix(file, "build/lib/") || strings.Contains(file, "/build/lib/") {
		return false
	}
	return !tree.AnyDirIn(file, otherDirs) && !inDirWithSuffix(file, otherDirSuffixes) &&
		!tree.IsExampleInDocs(file) && !grpcLibrary.MatchString(file)
}

func inDirWithSuffix(file string, suffixes []string) bool {
	for dir := range strings.SplitSeq(path.Dir(file), "/") {
		if slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(dir, suffix) }) {
			return true
		}
	}
	return false
}

// generatedFile matches the names of files that protoc's plugins write: those of grpcio-tools, grpclib and purerpc, and
// of protobuf itself.
var generatedFile = regexp.MustCompile(`(_pb2|_pb2_grpc|_grpc)\.py$`)

func analyze(f *tree.File) (*analyzer.Result[extra], error) {
	name := path.Base(f.Path)
	if slices.Contains(manifests, name) {
		return &analyzer.Result[extra]{ProjectRoot: true}, nil
	}
	if tree.IsBazelFile(f.Path) {
		text, err := f.Text()
		if err != nil {
			return nil, err
		}
		return &analyzer.Result[extra]{Extra: extra{TestFiles: source.BazelTestFiles(text)}}, nil
	}
	if path.Ext(name) == "" && !isScript(f) {
		return nil, nil
	}
	generated := generatedFile.MatchString(name)
	if generated && !strings.Contains(name, "health") {
		return nil, nil
	}
	text, err := f.Text()
	if err != nil {
		return nil, err
	}
	if generated {
		return analyzeGenerated(text), nil
	}
	result := analyzeSource(text)
	if result != nil && name == "__main__.py" {
		result.Findings = finding.InMain(result.Findings, func(finding.Server) bool { return true })
	}
	return result, nil
}

// interpreter is the first line of a program in Python.
var interpreter = regexp.MustCompile(`^#![^\n]*\bpython[\d.]*\b`)

// isScript reports whether a file without extension is a program in Python. Files of other kinds cost it their first
// bytes alone.
func isScript(f *tree.File) bool {
	head := make([]byte, 128)
	n, err := f.ReadAt(head, 0)
	return (err == nil || errors.Is(err, io.EOF)) && interpreter.Match(head[:n])
}

// mainCheck is what begins the code of a module that runs as a program.
var mainCheck = regexp.MustCompile(`(?m)^if[ \t]+__name__[ \t]*==`)

// inMain returns findings among which the servers are marked that are constructed in the main of a program: all of a
// module that can be run as one, and otherwise those that statements outside of functions construct.
func inMain(found []finding.Finding, t *source.Text) []finding.Finding {
	isMain := t.Matches(mainCheck)
	return finding.InMain(found, func(s finding.Server) bool { return isMain || t.Indented(s.Line) == 0 })
}

// analyzeGenerated tells whether generated code of a health service is that of grpc.health.v1.
func analyzeGenerated(text []byte) *analyzer.Result[extra] {
	if bytes.Contains(text, []byte("grpc.health.v1.Health")) {
		return nil
	}
	return &analyzer.Result[extra]{Extra: extra{CustomHealth: true}}
}

var (
	keywords = analyzer.Keywords(frameworks)
	// generatedCode is what only generated code defines: the function that registers a service.
	generatedCode = regexp.MustCompile(`(?m)^def add_\w+Servicer_to_server\(`)
)

func analyzeSource(text []byte) *analyzer.Result[extra] {
	hasKeyword := keywords.In(text)
	if !hasKeyword && !mayDeclareListener(text, false) {
		return nil
	}
	t := grammar.Read(text)
	if t.Matches(generatedCode) {
		return nil
	}
	i := readImports(t)
	if i.ofTest() {
		return nil
	}
	names := sync.OnceValue(func() *address.Names {
		d := readDeclarations(t)
		d.Global = i.global
		return d
	})
	var result analyzer.Result[extra]
	if hasKeyword {
		result.Findings = inMain(slices.Concat(
			findUses(t, i), analyzer.Findings(t, settings, nil), listeners(t, names),
		), t)
	}
	if len(result.Findings) > 0 || mayDeclareListener(text, hasKeyword) {
		result.Declares = readConstants(t, names)
	}
	if len(result.Findings) == 0 && len(result.Declares) == 0 {
		return nil
	}
	return &result
}

// grammar is how Python writes comments and strings (Python Language Reference, Lexical Analysis). The letter before a
// raw string changes nothing here: a quote behind a backslash does not end a raw string either.
var grammar = source.Grammar{
	source.LineComment("#"),
	source.String(`"""`, `"""`, source.Quoting{Multiline: true}),
	source.String(`'''`, `'''`, source.Quoting{Multiline: true}),
	source.String(`"`, `"`, source.Quoting{}),
	source.String(`'`, `'`, source.Quoting{}),
}
