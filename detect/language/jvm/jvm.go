// Package jvm recognizes gRPC servers in Java, Kotlin and Scala: in sources, class files and jars.
//
// Begin with [Analyzer]. What proves a server is in rules.go for sources, in libraries.go for sources and class files,
// and in class.go; where a server listens is in listens.go. Many frameworks make the server of what an app implements,
// so that a source alone does not tell the framework: analyze also reads build files and settings, postAnalyze puts
// them together, health.go knows which framework registers the health service in which build, and settings.go has the
// ports of such servers.
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

// extra is what a file tells beside its findings.
type extra struct {
	build    buildfile.File // of a jar, the artifacts that are in it or lie beside it
	settings []setting      // of a jar, those of all files in it
}

// The names of the languages beside Java.
const (
	kotlin = "kotlin"
	scala  = "scala"
)

// languageOf is the language of a source by its extension.
var languageOf = map[string]string{".java": "", ".kt": kotlin, ".scala": scala}

// plainFramework is the framework of a server that grpc-java makes, by the language that the server is written in.
var plainFramework = map[string]string{"": grpcJava, kotlin: grpcKotlin, scala: scalaPB}

// required chooses sources, build files, settings, classes and jars that may be the app's own.
func required(file string) bool { return mayBeRead(file) && isOwn(file) }

// mayBeRead chooses them by their names, wherever they lie.
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

// analyze analyzes a file by its extension.
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
	// otherDir is a directory or a source set whose code is in no program of the app: tests and what serves them, by
	// the conventions of Maven, Gradle, sbt, Android and JMH, with a name of its own as integrationTest, testFixtures
	// or functional-test; and what build tools generate.
	otherDir = lazyregexp.New(`(?:^|/)(?:tests?|it|jmh|testing|benchmarks?|testdata|multi-jvm|gatling|generated|` +
		`generated-(?:test-)?sources|generated-src|src_managed|src-gen|\w+Tests?|\w+-tests?|test[A-Z-]\w*)/`)
	// testSource is a test by the file names that surefire, failsafe, ScalaTest and Kotest look for.
	testSource = lazyregexp.New(`^(Test[A-Z]\w*|\w+(Tests?|TestCase|IT|Spec|TestBase))\.(java|kt|scala)$`)
	// sourceRoot is the directory in which packages begin, as in src/main/java/. A package may have any name, "test"
	// too.
	sourceRoot = lazyregexp.New(
		`(^|/)src/[^/]+/(java|kotlin|scala)/|/classes/(java|kotlin|scala)/main/|(^|/)classes/`)
)

// isOwn reports whether a file lies where the app's own code may be.
func isOwn(file string) bool {
	dir := path.Dir(file) + "/"
	if root := sourceRoot.FindStringIndex(file); root != nil {
		dir = file[:root[1]]
	}
	return !otherDir.MatchString(dir)
}

// classPath returns the part of the path of a class file that is the name of the class, with slashes.
func classPath(file string) string {
	if root := sourceRoot.FindStringIndex(file); root != nil {
		return file[root[1]:]
	}
	return file
}
