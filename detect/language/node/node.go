// Package node recognizes gRPC servers in JavaScript and TypeScript for Node.js. Begin with [Analyzer].
//
// The patterns of evidence are in rules.go, with the uses of names from imports.go. The addresses of listeners are in
// ports.go, and the options of NestJS in nest.go. Then postanalyze.go joins the files of each package of manifest.go.
package node

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Analyzer recognizes gRPC servers in JavaScript and TypeScript.
var Analyzer = analyzer.New(definition)

var definition = analyzer.Definition[extra]{
	Language: analyzer.Language{
		Name:       "node",
		Title:      "Node.js",
		Others:     map[string]string{typescript: "TypeScript"},
		Frameworks: frameworks,
		Toolchain:  toolchain,
	},
	Required:    required,
	MayServe:    keywords.In,
	Analyze:     analyze,
	PostAnalyze: postAnalyze,
}

const typescript = "typescript"

// languageOf is the language of a source by extension, if not JavaScript.
var languageOf = map[string]string{".ts": typescript, ".mts": typescript, ".cts": typescript}

// manifest is the file at the root of a project of npm, Yarn or pnpm.
const manifest = "package.json"

// loadsOnCondition matches a source that loads the file .env in some environments, most often not in production.
var loadsOnCondition = lazyregexp.New(`\bif\s*\([^;{}]{0,120}(?:NODE_ENV|[pP]rod)[^;]{0,120}\bdotenv\b`)

// replacesEnvironment matches a source that loads the file .env over the variables that are set.
var replacesEnvironment = lazyregexp.New(`\bconfig\(\s*\{[^{}]*\boverride\s*:\s*true\b`)

var (
	// otherDirs hold code that is in no program of the app: tests, code for tests, and copies of dependencies. The walk
	// of the tree leaves out node_modules.
	otherDirs = []string{
		"test", "tests", "__tests__", "spec", "specs", "__specs__", "e2e", "cypress", "playwright",
		"mock", "mocks", "__mocks__", "mock-server", "mock_server", "mockserver", "fixtures", "__fixtures__",
		"docs", "documentation",
		"testdata", "testing", "test-utils", "testutils", "integration-tests", "bower_components", "jspm_packages",
	}
	// otherFiles are the ends of file names, without extension, of tests, mocks, type declarations, generated stubs
	// (protoc's plugins for JavaScript, protoc-gen-es, Connect) and minified libraries for browsers.
	otherFiles = []string{
		".test", "-test", "_test", ".spec", "-spec", "_spec", ".e2e", "-e2e", ".mock", "-mock",
		"_mock", ".stories", ".d", "_pb", ".pb", "_connect", "_connectweb", "_connectquery", ".min",
	}
	// outputDirs are the output directories of compilers and bundlers.
	outputDirs = []string{"dist", "build", "out", "output", "bundle"}
)

// extra is the content of a file beside its findings.
type extra struct {
	manifest packageJSON
	// replacesEnvironment is set if a source loads the file .env over the variables that are set, and loadsOnCondition
	// if a source loads .env in some environments.
	replacesEnvironment, loadsOnCondition bool
	// runs is set if a source calls something when it is loaded.
	runs bool
}

var (
	// runs matches code that a module runs when it is loaded, at the beginning of a line: a call, or a condition of a
	// call.
	runs = lazyregexp.New(`(?m)^(?:(?:await|void|new)\s+)?[A-Za-z_$][\w$.]*\s*\(|^[;!]?\(`)
	// sourceDir matches a directory of sources, which may have the name of an output directory.
	sourceDir = lazyregexp.New(`(?:^|/)src/\w+/`)
	// exports matches the calls by which compilers and bundlers write exports.
	exports = lazyregexp.New(`(?m)^(?:Object\.defineProperty|(?:tslib_\d+\.)?__\w+|_export\w*)\s*\(`)
)

func required(file string) bool {
	name := path.Base(file)
	switch path.Ext(file) {
	case analyzer.EnvironmentFile:
		return name == analyzer.EnvironmentFile && !tree.AnyDirIn(file, otherDirs)
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".proto":
	default:
		if name != manifest {
			return false
		}
	}
	if tree.AnyDirIn(file, otherDirs) {
		return false
	}
	stem := strings.TrimSuffix(name, path.Ext(name))
	return stem != "e2e" && !strings.HasPrefix(stem, "mock-") && !strings.HasPrefix(stem, "mock.") &&
		!slices.ContainsFunc(otherFiles, func(end string) bool { return strings.HasSuffix(stem, end) })
}

func analyze(f *tree.File) (*analyzer.Result[extra], error) {
	text, err := f.Text()
	if err != nil {
		return nil, err
	}
	isOutput := tree.AnyDirIn(sourceDir.ReplaceAllString(f.Path, "/"), outputDirs)
	switch {
	case path.Base(f.Path) == analyzer.EnvironmentFile:
		return analyzer.Environment[extra](text), nil
	case path.Base(f.Path) == manifest:
		return analyzeManifest(text, isOutput)
	case path.Ext(f.Path) == ".proto":
		return nil, nil // the services are known anyway
	}
	return &analyzer.Result[extra]{Findings: findingsIn(text), Built: isOutput, Health: healthIn(text), Extra: extra{
		loadsOnCondition:    loadsOnCondition.Match(text),
		replacesEnvironment: replacesEnvironment.Match(text),
		runs:                len(runs.FindAllIndex(text, -1)) > len(exports.FindAllIndex(text, -1)),
	}}, nil
}
