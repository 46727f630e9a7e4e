// Package python recognizes gRPC servers in Python with grpcio, or with frameworks on top of grpcio or beside grpcio.
//
// Begin with [Analyzer]. The evidence of a server is the names that a source uses (rules.go, uses.go), resolved by its
// imports (imports.go). The ports are in ports.go.
package python

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Analyzer recognizes gRPC servers in Python.
var Analyzer = analyzer.New(definition)

var definition = analyzer.Definition[extra]{
	Language:    analyzer.Language{Name: "python", Title: "Python", Frameworks: frameworks, Toolchain: toolchain},
	Required:    required,
	MayServe:    analyzer.Keywords(frameworks).In,
	Analyze:     analyze,
	PostAnalyze: postAnalyze,
}

// extra is the content of a file beside its findings.
type extra struct {
	// LoadsEnvironment is set if the source loads a file .env.
	LoadsEnvironment bool
	// ReplacesEnvironment is set if the source loads .env over the variables that are set.
	ReplacesEnvironment bool
}

// manifests are the files that make a directory a project: of pyproject.toml's tools, setuptools, pip and pipenv.
var manifests = []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"}

// otherDirs hold code that is in no program of the app: tests (pytest's, unittest's and common names), packages
// installed by package managers, and vendored copies.
var otherDirs = []string{
	"test", "tests", "testing", "testsuite", "testdata", "test_data", "testutil", "testutils", "test_util",
	"test_utils", "test_helpers", "e2e", "mock", "mocks", "site-packages", "dist-packages", "__pypackages__", "_vendor",
	"third_party", "thirdparty",
}

var (
	// otherDir matches more such directories: "integration_tests", the metadata and the builds of setuptools.
	otherDir = lazyregexp.New(`[_-]tests?/|\.(?:egg|egg-info|dist-info)/|(?:^|/)build/lib/`)
	// testModule is a test by pytest's default python_files, or by Django's file name.
	testModule = lazyregexp.New(`(?:^|/)(?:tests?|conftest|test_[^/]*|[^/]*_tests?)\.py$`)
)

// grpcLibrary matches the files of grpcio's own packages that construct servers or register services. Any directory of
// the app may have a copy (pip install -t).
var grpcLibrary = lazyregexp.New(`(?:^|/)(?:grpc/(?:_|aio/|beta/|experimental/|framework/)|` +
	`grpc_(?:health|reflection|status|channelz|testing|tools)/)`)

func required(file string) bool {
	switch path.Ext(file) {
	case ".py":
		return !testModule.MatchString(file) && isAppCode(file)
	case ".sh", ".proto", "": // a program with the interpreter in its first line, a Pipfile, or Bazel's BUILD
		return isAppCode(file)
	case ".toml", ".cfg", ".txt", ".json", analyzer.EnvironmentFile:
		known := slices.Concat(manifests, []string{mlserverSettings, analyzer.EnvironmentFile})
		return slices.Contains(known, path.Base(file)) && isAppCode(file)
	}
	return tree.IsBazelFile(file)
}

func isAppCode(file string) bool {
	return !tree.AnyDirIn(file, otherDirs) && !otherDir.MatchString(file) && !tree.IsExampleInDocs(file) &&
		!(strings.Contains(file, "grpc") && grpcLibrary.MatchString(file))
}

// generatedFile matches the files of protoc's plugins in grpcio-tools and in protobuf itself. Files of grpclib and
// purerpc, *_grpc.py, have names that people also give to servers.
var generatedFile = lazyregexp.New(`_pb2(?:_grpc)?\.py$|health\w*_grpc\.py$`)

func analyze(f *tree.File) (*analyzer.Result[extra], error) {
	name := path.Base(f.Path)
	switch {
	case slices.Contains(manifests, name):
		return &analyzer.Result[extra]{ProjectRoot: true}, nil
	case tree.IsBazelFile(f.Path):
		return analyzer.BazelTests[extra](f)
	case path.Ext(name) == "" && name != procfile.Name && !f.IsScript(interpreter),
		generatedFile.MatchString(name) && !strings.Contains(name, "health"):
		return nil, nil
	}
	text, err := f.Text()
	switch {
	case err != nil:
		return nil, err
	case path.Ext(name) == ".proto":
		return nil, nil
	case path.Ext(name) == ".sh" || name == procfile.Name:
		return analyzeCommands(text), nil
	case name == mlserverSettings:
		return analyzeSettings(f, text)
	case name == analyzer.EnvironmentFile:
		return analyzer.Environment[extra](text), nil
	case generatedFile.MatchString(name):
		isStandard := bytes.Contains(text, []byte("grpc.health.v1.Health"))
		health := analyzer.HealthDefinitions{Standard: isStandard, Own: !isStandard}
		return &analyzer.Result[extra]{Health: health}, nil
	}
	result := analyzeSource(text)
	if result != nil && name == "__main__.py" {
		result.Findings = finding.InMain(result.Findings, func(finding.Server) bool { return true })
	}
	return result, nil
}

// interpreter is the first line of a program in Python.
var interpreter = lazyregexp.New(`^#![^\n]*\bpython[\d.]*\b`)

// mainCheck begins the code of a module that runs as a program.
var mainCheck = lazyregexp.New(`(?m)^if[ \t]+__name__[ \t]*==`)

// inMain returns findings with marks on the servers in the main of a program: all servers of a module that can run as a
// program, otherwise servers in statements outside of functions.
func inMain(found []finding.Finding, t *source.Text) []finding.Finding {
	isMain := t.Matches(mainCheck)
	return finding.InMain(found, func(s finding.Server) bool { return isMain || t.Indented(t.OfLine(s.Line)) == 0 })
}

var (
	keywords = analyzer.Keywords(frameworks, "add_insecure_port(", "add_secure_port(")
	// loadsEnvironment mark sources that load a file .env: by python-dotenv, pydantic's settings, environs.
	loadsEnvironment    = source.NewKeywords("load_dotenv", "env_file", ".read_env(")
	replacesEnvironment = lazyregexp.New(`\bload_dotenv\([^()]*\boverride\s*=\s*True\b`)
	// loadsOnCondition matches a source that loads .env in some environments, most often not in production.
	loadsOnCondition = lazyregexp.New(
		`\bif\b(?:[^\n:()]|\([^()]*\))*?(?:[pP]rod|PROD|\b[dD]ev|\blocal|DEBUG|ENV(?:IRONMENT)?\b)` +
			`(?:[^:()]|\([^()]*\)|\))*:[ \t\r]*(?:#[^\n]*)?\n\s+(?:dotenv\.)?load_dotenv\(`)
	// generatedCode defines a function that registers a service, as only generated code does.
	generatedCode = lazyregexp.New(`(?m)^def add_\w+Servicer_to_server\(`)
)

func analyzeSource(text []byte) *analyzer.Result[extra] {
	var result analyzer.Result[extra]
	result.Extra.LoadsEnvironment = loadsEnvironment.In(text) && !loadsOnCondition.Match(text)
	result.Extra.ReplacesEnvironment = result.Extra.LoadsEnvironment && replacesEnvironment.Match(text)
	if !keywords.In(text) {
		return &result
	}
	t := grammar.Read(text)
	i := readImports(t)
	if t.Matches(generatedCode) || i.ofTest() {
		return nil
	}
	imported := slices.Collect(maps.Values(i.names))
	found := slices.Concat(inMain(findUses(t, i), t), analyzer.Findings(t, healthRules, nil),
		analyzer.Findings(t, transports, imported), listeners(t))
	found = analyzer.Associate(t, analyzer.MarkConditional(t, found, finding.Is[healthHelper]))
	result.Findings = slices.Concat(found, analyzer.HealthChecks(t))
	return &result
}

// grammar is the syntax of comments and strings in Python (Python Language Reference, Lexical Analysis). The letter
// before a raw string makes no difference: a quote mark after a backslash does not end a raw string either.
var grammar = source.Grammar{
	source.LineComment("#"),
	source.String(`"""`, `"""`, source.Quoting{Multiline: true}),
	source.String(`'''`, `'''`, source.Quoting{Multiline: true}),
	source.String(`"`, `"`, source.Quoting{}),
	source.String(`'`, `'`, source.Quoting{}),
}
