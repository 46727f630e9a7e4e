// Package dotnet recognizes gRPC servers in C#, F# and VB: those on ASP.NET Core's server, Kestrel, and those of
// Grpc.Core, in sources and in publish folders. Begin with [Analyzer].
package dotnet

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Analyzer recognizes gRPC servers in C#, F# and VB.
var Analyzer = analyzer.New(definition)

var definition = analyzer.Definition[extra]{
	Language: analyzer.Language{
		Name: "csharp", Title: "C#", Others: map[string]string{"fsharp": "F#", "vb": "VB"}, Frameworks: frameworks,
	},
	Required:    required,
	MayServe:    analyzer.Keywords(frameworks).In,
	Analyze:     analyze,
	PostAnalyze: postAnalyze,
}

// extra is what a file tells beside its findings.
type extra struct {
	// project is what a project file of MSBuild tells; nil for any other file.
	project *msbuildProject
	// sections are those of the settings that a source binds to classes.
	sections map[string]string
	// filled are classes of objects that a source fills from what is not seen.
	filled []string
	// environment is what a source says of environment variables; nil if it says nothing.
	environment *environment
	// mentions are the classes that a source names which may have servers, and classes those with servers of Grpc.Core,
	// by the lines of these.
	mentions []string
	classes  map[int]string
	// health is what a .proto file defines.
	health analyzer.HealthDefinitions
	// isAdded says that a file has settings if a program adds it, and addedTo is the folder of that program.
	isAdded bool
	addedTo string
}

// languageOf maps the extension of a source to the plan's name of its language.
var languageOf = map[string]string{".cs": "csharp", ".fs": "fsharp", ".vb": "vb"}

// settingsFiles are the settings that hold in production. Properties/launchSettings.json is for `dotnet run` alone and
// is not published.
var settingsFiles = []string{"appsettings.json", productionSettings}

// productionSettings go before those in appsettings.json.
const productionSettings = "appsettings.Production.json"

var (
	// testPaths matches the paths of tests, by the usual names of test projects and of their files: Shop.Tests,
	// Shop.UnitTests, ShopTests, tests. A directory GrpcTest may hold somebody's first server: there the project file
	// decides.
	testPaths = lazyregexp.New(
		`(?:^|[/._-])(?i:tests?|testing|testdata|(?:unit|integration|functional|acceptance|e2e)tests?)(?:/|\.\w+$)|` +
			`[a-z0-9]Tests(?:/|\.\w+$)`)
	// outputPaths matches the paths of what the compiler writes. Publish folders lie in bin, and only they are read.
	outputPaths = lazyregexp.New(`(?:^|/)(?:[Bb]in|[Oo]bj)/`)
)

// generatedSuffixes are the ends of the names of sources that tools write, in lower case.
var generatedSuffixes = []string{".g.cs", ".g.i.cs", ".designer.cs", ".generated.cs", ".designer.vb", ".g.vb"}

func required(file string) bool {
	switch path.Ext(file) {
	case ".cs", ".fs", ".vb":
		return !testPaths.MatchString(file) && !outputPaths.MatchString(file) && !hasGeneratedSuffix(file) &&
			!tree.IsExampleInDocs(file)
	case ".csproj", ".fsproj", ".vbproj", ".proto":
		return !outputPaths.MatchString(file)
	case ".json":
		if strings.HasSuffix(file, ".deps.json") {
			return !testPaths.MatchString(path.Dir(file) + "/")
		}
		isSettings := slices.Contains(settingsFiles, path.Base(file)) || isAddedSettings(file)
		return isSettings && !testPaths.MatchString(file)
	}
	return false
}

func hasGeneratedSuffix(file string) bool {
	lower := strings.ToLower(file)
	return slices.ContainsFunc(generatedSuffixes, func(suffix string) bool { return strings.HasSuffix(lower, suffix) })
}

func analyze(f *tree.File) (*analyzer.Result[extra], error) {
	text, err := f.Text()
	if err != nil {
		return nil, err
	}
	switch ext := path.Ext(f.Path); {
	case languageOf[ext] != "":
		return analyzeSource(ext, text), nil
	case ext == ".proto":
		return &analyzer.Result[extra]{Extra: extra{health: analyzer.HealthInProto(text)}}, nil
	case strings.HasSuffix(f.Path, ".deps.json"):
		return analyzePublishFolder(f, text)
	case ext == ".json":
		result, err := analyzeSettings(text)
		if isAddedSettings(f.Path) {
			err = nil // most files with such a name are none of .NET's
			if result != nil {
				result.Extra.isAdded = true
			}
		}
		return result, err
	default:
		return analyzeProject(text)
	}
}
