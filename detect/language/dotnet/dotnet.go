// Package dotnet recognizes gRPC servers in C#, F# and VB: those on ASP.NET Core's server, Kestrel, and those of
// Grpc.Core, in sources and in publish folders. Begin with [Analyzer].
package dotnet

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

// Analyzer recognizes gRPC servers in C#, F# and VB.
var Analyzer = analyzer.New(definition)

var definition = analyzer.Definition[extra]{
	Language: analyzer.Language{
		Name: "csharp", Title: "C#", Others: map[string]string{"fsharp": "F#", "vb": "VB"}, Frameworks: frameworks,
	},
	Required:    required,
	Analyze:     analyze,
	PostAnalyze: postAnalyze,
}

// extra is what a file tells beside its findings.
type extra struct {
	// project is what a project file of MSBuild tells; nil for any other file.
	project *msbuildProject
	// sections are those of the settings that a source binds to classes.
	sections map[string]string
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
	testPaths = regexp.MustCompile(
		`(?:^|[/._-])(?i:tests?|testing|testdata|(?:unit|integration|functional|acceptance|e2e)tests?)(?:/|\.\w+$)|` +
			`[a-z0-9]Tests(?:/|\.\w+$)`)
	// outputPaths matches the paths of what the compiler writes. Publish folders lie in bin, and only they are read.
	outputPaths = regexp.MustCompile(`(?:^|/)(?:[Bb]in|[Oo]bj)/`)
)

// generatedSuffixes are the ends of the names of sources that tools write, in lower case.
var generatedSuffixes = []string{".g.cs", ".g.i.cs", ".designer.cs", ".generated.cs", ".designer.vb", ".g.vb"}

func required(file string) bool {
	switch path.Ext(file) {
	case ".cs", ".fs", ".vb":
		return !testPaths.MatchString(file) && !outputPaths.MatchString(file) && !hasGeneratedSuffix(file) &&
			!tree.IsExampleInDocs(file)
	case ".csproj", ".fsproj", ".vbproj":
		return !outputPaths.MatchString(file)
	case ".json":
		if strings.HasSuffix(file, ".deps.json") {
			return !testPaths.MatchString(path.Dir(file) + "/")
		}
		return slices.Contains(settingsFiles, path.Base(file)) && !testPaths.MatchString(file)
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
	case strings.HasSuffix(f.Path, ".deps.json"):
		return analyzePublishFolder(f, text)
	case ext == ".json":
		return analyzeSettings(text)
	default:
		return analyzeProject(text)
	}
}
