// Package php recognizes gRPC servers in PHP with RoadRunner, Hyperf, OpenSwoole or grpc/grpc. Begin with [Analyzer].
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

// extra is the content of a file beside its findings.
type extra struct {
	// configuresRoadRunner is set if the file is the whole configuration of RoadRunner, which runs the project and
	// serves the services in the file.
	configuresRoadRunner bool
	// loadsEnvironment is set if the app loads a file .env.
	loadsEnvironment bool
	// replacesEnvironment is set if the app loads .env over the variables that are set.
	replacesEnvironment bool
	// isLibrary is set if the composer.json is of a library, which Composer puts into other programs.
	isLibrary bool
}

// otherDirs hold code that is in no program of the app: tests, output of protoc, and output of frameworks at run time
// (Hyperf's runtime, Laravel's storage).
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

// loadsEnvironment mark sources that load a file .env: by vlucas/phpdotenv, by Symfony's component.
var loadsEnvironment = source.NewKeywords("Dotenv::create", "new Dotenv(", "bootEnv(", "loadEnv(")

// replacesEnvironment mark sources that load .env over the variables that are set.
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
		return nil, nil // the services are known anyway
	case ext != ".php":
		return analyzeRoadRunner(text)
	}
	result := analyzeSource(text)
	result.Extra.loadsEnvironment = loadsEnvironment.In(text)
	result.Extra.replacesEnvironment = result.Extra.loadsEnvironment && replacesEnvironment.In(text)
	return &result, nil
}
