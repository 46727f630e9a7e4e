// Package php recognizes gRPC servers in PHP: those that RoadRunner runs, and those of Hyperf, OpenSwoole and
// grpc/grpc. Begin with [Analyzer].
package php

import (
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

// Analyzer recognizes gRPC servers in PHP.
var Analyzer = analyzer.New(definition)

var definition = analyzer.Definition[extra]{
	Language:    analyzer.Language{Name: "php", Title: "PHP", Frameworks: frameworks, Toolchain: toolchain},
	Required:    required,
	MayServe:    keywords.In,
	Analyze:     analyze,
	PostAnalyze: postAnalyze,
}

// extra is what a file tells beside its findings.
type extra struct {
	// configuresRoadRunner says that the file is the whole configuration of RoadRunner, which runs the project and
	// serves what the file names.
	configuresRoadRunner bool
	// loadsEnvironment says that the app loads a file .env.
	loadsEnvironment bool
	// replacesEnvironment says that it does so over the variables that are set.
	replacesEnvironment bool
	// isLibrary says that a composer.json is of a library, which Composer puts into other programs.
	isLibrary bool
}

// otherDirs are directories whose code is in no program of the app: tests, what protoc writes, and what frameworks
// write while they run (Hyperf's runtime, Laravel's storage).
var otherDirs = []string{
	"test", "tests", "Test", "Tests", "spec", "fixtures", "Fixtures", "GPBMetadata", "runtime", "storage",
}

func required(file string) bool {
	name := path.Base(file)
	switch path.Ext(file) {
	case ".php":
		if strings.HasSuffix(name, "Test.php") || strings.HasSuffix(name, ".blade.php") ||
			strings.HasPrefix(name, "_ide_helper") {
			return false
		}
	case ".yaml", ".yml":
		if !roadRunnerConfig.MatchString(name) {
			return false
		}
	case ".proto":
	default:
		if name != "composer.json" && name != analyzer.EnvironmentFile {
			return false
		}
	}
	return !tree.AnyDirIn(file, otherDirs)
}

// loadsEnvironment are in sources that load a file .env: by vlucas/phpdotenv, by Symfony's component.
var loadsEnvironment = source.NewKeywords("Dotenv::create", "new Dotenv(", "bootEnv(", "loadEnv(")

// replacesEnvironment are in those that load it over the variables that are set.
var replacesEnvironment = source.NewKeywords("Dotenv::createMutable", "Dotenv::createUnsafeMutable", "->overload(")

func analyze(f *tree.File) (*analyzer.Result[extra], error) {
	ext := path.Ext(f.Path)
	if ext == ".json" {
		return analyzeComposer(f)
	}
	text, err := f.Text()
	if err != nil {
		return nil, err
	}
	switch {
	case path.Base(f.Path) == analyzer.EnvironmentFile:
		return analyzer.Environment[extra](text), nil
	case ext == ".proto":
		return nil, nil // its services are known anyway
	case ext != ".php":
		return analyzeRoadRunner(text)
	}
	result := analyzeSource(text)
	result.Extra.loadsEnvironment = loadsEnvironment.In(text)
	result.Extra.replacesEnvironment = result.Extra.loadsEnvironment && replacesEnvironment.In(text)
	return &result, nil
}
