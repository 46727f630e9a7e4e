// Package jvm recognizes gRPC servers in Java, Kotlin and Scala: in sources, class files and jars.
//
// Begin with [Analyzer]. The rules for servers are in rules.go for sources, in libraries.go for sources and class
// files, and in class.go; the rules for listeners are in listens.go. Many frameworks serve an app's implementations, so
// a source alone does not tell the framework: analyze also reads build files and settings, postAnalyze combines all
// files, health.go knows the builds in which a framework registers the health service, and settings.go has the ports of
// frameworks' servers.
package jvm

import (
	"path"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/language/jvm/buildfile"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Analyzer recognizes gRPC servers in Java, Kotlin and Scala.
var Analyzer = analyzer.New(definition)

var definition = analyzer.Definition[extra]{
	Language: analyzer.Language{
		Name: "java", Title: "Java", Others: map[string]string{kotlin: "Kotlin", scala: "Scala"},
		Frameworks: frameworks, Toolchain: toolchain,
	},
	Required:    required,
	MayServe:    keywords.In,
	Analyze:     analyze,
	PostAnalyze: postAnalyze,
}

// extra holds the results of a file beside the findings.
type extra struct {
	build    buildfile.File // of a jar, the jar's own artifact and the artifacts inside
	settings []setting      // of a jar, the settings in all files
}

// Languages beside Java.
const (
	kotlin = "kotlin"
	scala  = "scala"
)

// languageOf is the language of a source by its extension.
var languageOf = map[string]string{".java": "", ".kt": kotlin, ".scala": scala}

// plainFramework is the framework of a grpc-java server, by language.
var plainFramework = map[string]string{"": grpcJava, kotlin: grpcKotlin, scala: scalaPB}

// required chooses sources, build files, settings, classes and jars that may be the app's own.
func required(file string) bool { return mayBeRead(file) && isOwn(file) }

// mayBeRead chooses files by name, in any directory.
func mayBeRead(file string) bool {
	name := path.Base(file)
	switch path.Ext(name) {
	case ".java", ".kt", ".scala":
		return !testSource.MatchString(name)
	case ".gradle", ".kts", ".sbt":
		return buildfile.Matches(file)
	case ".xml":
		return buildfile.Matches(file) || springBeans.MatchString(file)
	case ".proto":
		return true
	case ".json", ".conf", ".toml", ".properties", ".yml", ".yaml":
		return isSettings(name) || buildfile.Matches(file)
	case ".class":
		return !libraryClass.MatchString(classPath(file))
	}
	return path.Ext(name) == ".jar" || path.Ext(name) == ".war"
}

func analyze(f *tree.File) (*analyzer.Result[extra], error) {
	ext := path.Ext(f.Path)
	if ext == ".jar" || ext == ".war" {
		return analyzeJar(f)
	}
	text, err := f.Text()
	switch file := f.Path; {
	case err != nil:
		return nil, err
	case ext == ".class":
		return analyzeClass(text, classPath(file), ""), nil
	case ext == ".proto":
		return nil, nil
	case buildfile.Matches(file):
		f, err := buildfile.Read(file, text, grammars[ext])
		return &analyzer.Result[extra]{ProjectRoot: f.Root, Extra: extra{build: f}}, err
	case isSettings(path.Base(file)):
		all, err := readSettings(file, text)
		return &analyzer.Result[extra]{Extra: extra{settings: all}}, err
	case ext == ".xml":
		return analyzeBeans(text), nil
	default:
		return analyzeSource(ext, text), nil
	}
}

var (
	// otherDir is a directory or a source set outside of the app's programs: tests and test support, by the conventions
	// of Maven, Gradle, sbt, Android and JMH, also named integrationTest, testFixtures or functional-test; and the
	// generated sources of build tools.
	otherDir = lazyregexp.New(`(?:^|/)(?:tests?|it|jmh|testing|benchmarks?|testdata|multi-jvm|gatling|generated|` +
		`generated-(?:test-)?sources|generated-src|src_managed|src-gen|\w+Tests?|\w+-tests?|test[A-Z-]\w*)/`)
	// testSource is a test by the file names for surefire, failsafe, ScalaTest and Kotest.
	testSource = lazyregexp.New(`^(Test[A-Z]\w*|\w+(Tests?|TestCase|IT|Spec|TestBase))\.(java|kt|scala)$`)
	// sourceRoot is the directory where packages begin, as in src/main/java/. A package may have any name, also "test".
	sourceRoot = lazyregexp.New(
		`(^|/)src/[^/]+/(java|kotlin|scala)/|/classes/(java|kotlin|scala)/main/|(^|/)classes/`)
)

// isOwn reports whether a file may be the app's own code, by directory.
func isOwn(file string) bool {
	dir := path.Dir(file) + "/"
	if root := sourceRoot.FindStringIndex(file); root != nil {
		dir = file[:root[1]]
	}
	return !otherDir.MatchString(dir)
}

// classPath returns the name of the class, with slashes, from the path of a class file.
func classPath(file string) string {
	if root := sourceRoot.FindStringIndex(file); root != nil {
		return file[root[1]:]
	}
	return file
}
