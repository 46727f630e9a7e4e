// Package node recognizes gRPC servers in JavaScript and TypeScript for Node.js. Begin with [Analyzer].
//
// What a source must hold is in rules.go: uses of what imports.go finds, and patterns. Where servers listen is in
// ports.go, and what NestJS needs beside that in nest.go. Then postanalyze.go takes the files together, by what
// manifest.go knows of their packages.
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

// typescript is the language of a service whose evidence is in a TypeScript source.
const typescript = "typescript"

// languageOf is the language of a source by its extension, if that is not JavaScript.
var languageOf = map[string]string{".ts": typescript, ".mts": typescript, ".cts": typescript}

// manifest is the file that a project of npm, Yarn or pnpm begins with.
const manifest = "package.json"

// loadsOnCondition is in a source that loads the file .env in some environments, most often not in production.
var loadsOnCondition = lazyregexp.New(`\bif\s*\([^;{}]{0,120}(?:NODE_ENV|[pP]rod)[^;]{0,120}\bdotenv\b`)

// replacesEnvironment is in a source that loads it over the variables that are set.
var replacesEnvironment = lazyregexp.New(`\bconfig\(\s*\{[^{}]*\boverride\s*:\s*true\b`)

var (
	// otherDirs hold code that is in no program of the app: tests, what tests need, and copies of dependencies. The
	// walk of the tree leaves out node_modules.
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
	// outputDirs are where compilers and bundlers write.
	outputDirs = []string{"dist", "build", "out", "output", "bundle"}
)

// extra is what a file tells beside its findings.
type extra struct {
	manifest packageJSON
	// replacesEnvironment says that a source loads the file .env over the variables that are set, and loadsOnCondition
	// that it does so in some environments.
	replacesEnvironment, loadsOnCondition bool
	// runs says that a source calls something when it is loaded.
	runs bool
}

// runs is what a module does when it is loaded, at the beginning of a line: a call, or a condition of one.
var runs = lazyregexp.New(`(?m)^(?:(?:await|void|new)\s+)?[A-Za-z_$][\w$.]*\s*\(|^[;!]?\(`)

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
	isOutput := tree.AnyDirIn(f.Path, outputDirs)
	switch {
	case path.Base(f.Path) == analyzer.EnvironmentFile:
		return analyzer.Environment[extra](text), nil
	case path.Base(f.Path) == manifest:
		return analyzeManifest(text, isOutput)
	case path.Ext(f.Path) == ".proto":
		return nil, nil // its services are known anyway
	}
	return &analyzer.Result[extra]{Findings: findingsIn(text), Built: isOutput, Health: healthIn(text), Extra: extra{
		loadsOnCondition:    loadsOnCondition.Match(text),
		replacesEnvironment: replacesEnvironment.Match(text),
		runs:                runs.Match(text),
	}}, nil
}
