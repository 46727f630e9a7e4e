// Package jvm recognizes gRPC servers in Java, Kotlin and Scala: in sources, class files and jars.
//
// Begin with [Analyzer]. What proves a server is in libraryrules.go, and further in rules.go for sources and in
// classrules.go for class files. Many frameworks make the server of what an app implements, so that a source alone does
// not tell the framework: analyze also reads build files and settings, postAnalyze puts them together, health.go knows
// which framework registers the health service in which build, and serversettings.go has the ports of such servers. The
// ports of other servers are in ports.go; names.go and members.go have the names that sources declare for them,
// declares.go those of settings files.
package jvm

import (
	"path"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/language/jvm/buildfile"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

// Analyzer recognizes gRPC servers in Java, Kotlin and Scala.
var Analyzer = analyzer.New(definition)

var definition = analyzer.Definition[extra]{
	Language: analyzer.Language{
		Name: "java", Title: "Java", Others: map[string]string{kotlin: "Kotlin", scala: "Scala"},
		Frameworks: frameworks,
	},
	Required:    required,
	MayServe:    keywords.In,
	Analyze:     analyze,
	PostAnalyze: postAnalyze,
}

// extra is what a file tells beside its findings.
type extra struct {
	build      buildfile.File             // of a jar, the artifacts that are in it or lie beside it
	settings   []fileSettings             // of a jar, those of all files in it
	loads      []string                   // the settings that a source loads by their names
	mentions   []string                   // classes named for health that a source uses
	properties properties                 // what a source reads from files of properties
	health     analyzer.HealthDefinitions // of a .proto file
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
		return !testSource.MatchString(name) && !eclipseOutput.MatchString(file)
	case ".gradle", ".kts", ".sbt":
		return buildfile.Matches(file)
	case ".xml":
		return buildfile.Matches(file) || springBeans.MatchString(file)
	case ".json", ".groovy":
		return isSettings(name)
	case ".proto":
		return true
	case ".toml":
		return isSettings(name) || buildfile.Matches(file)
	case ".conf":
		return isSettings(name) || confFile.MatchString(file)
	case ".properties", ".yml", ".yaml":
		return isSettings(name) || ownSettings.MatchString(name) || isOtherSettings(file) || buildfile.Matches(file)
	case ".class":
		return !isLibraryClass(classPath(file))
	}
	return path.Ext(name) == ".jar" || path.Ext(name) == ".war"
}

// analyze analyzes a file by its extension.
func analyze(f *tree.File) (*analyzer.Result[extra], error) {
	if ext := path.Ext(f.Path); ext == ".jar" || ext == ".war" {
		return analyzeJar(f)
	}
	text, err := f.Text()
	if err != nil {
		return nil, err
	}
	return analyzeText(f.Path, text)
}

// analyzeText analyzes any file but an archive.
func analyzeText(file string, text []byte) (*analyzer.Result[extra], error) {
	switch ext := path.Ext(file); {
	case ext == ".class":
		return analyzeClass(text, ""), nil
	case ext == ".proto":
		return &analyzer.Result[extra]{Extra: extra{health: analyzer.HealthInProto(text)}}, nil
	case buildfile.Matches(file):
		return analyzeBuildFile(file, text)
	case ext == ".conf" && !isSettings(path.Base(file)):
		s, _ := parseHOCON(file, text) // other programs have files of such a name in formats of their own
		return s.result(), nil
	case ownSettings.MatchString(path.Base(file)) || isSettings(path.Base(file)) || isOtherSettings(file):
		s, err := parseSettings(file, text)
		return s.result(), err
	case ext == ".xml":
		return analyzeDubboBeans(file, text), nil
	default:
		return analyzeSource(ext, text), nil
	}
}

func analyzeBuildFile(file string, text []byte) (*analyzer.Result[extra], error) {
	var f buildfile.File
	var err error
	switch ext := path.Ext(file); ext {
	case ".xml":
		f, err = buildfile.ReadPOM(text)
	case ".toml":
		f, err = buildfile.ReadCatalog(text)
	case ".properties":
		f = buildfile.ReadProperties(text)
	case ".sbt", ".scala":
		f = buildfile.ReadSbt(file, grammars[ext].Read(text))
	default:
		f = buildfile.ReadGradle(file, grammars[ext].Read(text))
	}
	return &analyzer.Result[extra]{ProjectRoot: f.Root, Extra: extra{build: f, loads: loadsOfBuild(text)}}, err
}
