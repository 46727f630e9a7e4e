// Package node recognizes gRPC servers in JavaScript and TypeScript for Node.js. Begin with [Analyzer].
//
// Package ecmascript reads a source, and source.go looks for servers in it: what it must hold is in rules.go, and three
// kinds of calls need more than a pattern (grpcjs.go, nestjs.go, dapr.go). What listens is in listeners.go, what a name
// stands for in names.go, and what other files may ask for in declarations.go, options.go and, for files that are no
// sources, settings.go. Then postanalyze.go takes the files together, by what manifest.go and modules.go know of them.
package node

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
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

// environmentLoader is in a package.json whose app loads the file .env: by the package dotenv, by the one of NestJS
// that has it, or by an option of Node.js.
var environmentLoader = lazyregexp.New(
	`"(?:dotenv(?:-\w+)?|@nestjs/config|env-cmd)"\s*:|--env-file[= ]\.env\b`)

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
	// packageName and entries are those of a package.json, and aliases those of a tsconfig.json.
	packageName string
	// loadsEnvironment says that a package.json has a dependency that loads the file .env beside it.
	loadsEnvironment bool
	// replacesEnvironment says that a source loads it over the variables that are set.
	replacesEnvironment bool
	// loadsOnCondition says that a source loads it in some environments.
	loadsOnCondition bool
	entries          entries
	// library is what a package.json says of others that import its package.
	library library
	// runs says that a source calls something when it is loaded.
	runs    bool
	aliases []alias
	health  analyzer.HealthDefinitions
	// imports are the modules that a source imports which gives a server its services.
	imports []string
}

func required(file string) bool {
	name := path.Base(file)
	switch path.Ext(file) {
	case analyzer.EnvironmentFile:
		return name == analyzer.EnvironmentFile && !tree.AnyDirIn(file, otherDirs)
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".proto":
	default:
		isKnown := name == manifest || name == nestManifest || compilerConfig.MatchString(name) ||
			settingsFile.MatchString(name)
		if !isKnown && !yamlSettings.MatchString(file) && !analyzer.IsSettingsFile(file) {
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
	case path.Base(f.Path) == nestManifest:
		return analyzeNest(text), nil
	case compilerConfig.MatchString(path.Base(f.Path)):
		return analyzeCompilerConfig(f.Path, text), nil
	case address.IsSettingsFile(f.Path):
		return analyzeSettings(f.Path, text)
	case path.Ext(f.Path) == ".proto":
		return &analyzer.Result[extra]{Extra: extra{health: analyzer.HealthInProto(text)}}, nil
	}
	result := cmp.Or(analyzeSource(f.Path, text, isOutput), &analyzer.Result[extra]{})
	result.Extra.loadsOnCondition = loadsOnCondition.Match(text)
	result.Extra.runs = runs.Match(text)
	result.Extra.replacesEnvironment = replacesEnvironment.Match(text)
	result.Extra.health = healthIn(text)
	return result, nil
}

// analyzeManifest decides whether a package.json begins a project. One that only sets the module system of its
// directory ({"type": "module"}) does not, and neither does one among the output of a compiler.
func analyzeManifest(text []byte, isOutput bool) (*analyzer.Result[extra], error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &fields); err != nil {
		return &analyzer.Result[extra]{ProjectRoot: !isOutput},
			fmt.Errorf("reading it as a project of no known content: %w", err)
	}
	_, hasName := fields["name"]
	_, hasDependencies := fields["dependencies"]
	_, hasScripts := fields["scripts"]
	if isOutput || !hasName && !hasDependencies && !hasScripts {
		return nil, nil
	}
	var name string
	_ = json.Unmarshal(fields["name"], &name) // a name of another type is none that can be imported
	return &analyzer.Result[extra]{ProjectRoot: true, Extra: extra{
		packageName: name, entries: entriesOf(fields), library: libraryOf(fields),
		// The image has no devDependencies.
		loadsEnvironment: environmentLoader.Match(fields["dependencies"]) || environmentLoader.Match(fields["scripts"]),
	}}, nil
}
