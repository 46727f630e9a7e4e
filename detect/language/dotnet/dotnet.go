// Package dotnet recognizes gRPC servers in C#, F# and VB: those on ASP.NET Core's server, Kestrel, and those of
// Grpc.Core, in sources and in publish folders. Begin with [Analyzer].
//
// What a source must hold is listed in rules.go, and what project files and built programs hold in msbuild.go and
// publish.go. Where Kestrel listens, by sources and by settings, is in kestrel.go and settings.go.
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
		Name: "csharp", Title: "C#", Others: map[string]string{"fsharp": "F#", "vb": "VB"},
		Frameworks: frameworks, Toolchain: toolchain,
	},
	Required:    required,
	MayServe:    analyzer.Keywords(frameworks).In,
	Analyze:     analyze,
	PostAnalyze: postAnalyze,
}

// extra is what a file tells beside its findings.
type extra struct {
	// project is what a project file of MSBuild tells. A project without a file is a program.
	project msbuildProject
	// isHosted says that a source has a class which the host of a program starts.
	isHosted bool
}

// languageOf maps the extension of a source to the plan's name of its language.
var languageOf = map[string]string{".cs": "csharp", ".fs": "fsharp", ".vb": "vb"}

var (
	// testPaths matches the paths of tests, by the usual names of test projects and of their files: Shop.Tests,
	// Shop.UnitTests, ShopTests, tests. A directory GrpcTest may hold somebody's first server: there the project file
	// decides.
	testPaths = lazyregexp.New(
		`(?:^|[/._-])(?i:tests?|testing|testdata|(?:unit|integration|functional|acceptance|e2e)tests?)(?:/|\.\w+$)|` +
			`[a-z0-9]Tests(?:/|\.\w+$)`)
	// outputPaths matches the paths of what the compiler writes. Publish folders lie in bin, and only they are read.
	outputPaths = lazyregexp.New(`(?:^|/)(?:[Bb]in|[Oo]bj)/`)
	// generatedPaths matches the paths of sources that tools write.
	generatedPaths = lazyregexp.New(`(?i)\.(?:g|g\.i|designer|generated)\.(?:cs|vb)$`)
)

func required(file string) bool {
	switch path.Ext(file) {
	case ".cs", ".fs", ".vb":
		return !testPaths.MatchString(file) && !outputPaths.MatchString(file) && !generatedPaths.MatchString(file) &&
			!tree.IsExampleInDocs(file)
	case ".csproj", ".fsproj", ".vbproj", ".proto":
		return !outputPaths.MatchString(file)
	case ".json":
		if strings.HasSuffix(file, ".deps.json") {
			return !testPaths.MatchString(path.Dir(file) + "/")
		}
		return slices.Contains(settingsFiles, path.Base(file)) && !testPaths.MatchString(file)
	}
	return false
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
		return nil, nil // its services are known anyway
	case strings.HasSuffix(f.Path, ".deps.json"):
		return analyzePublishFolder(f, text)
	case ext == ".json":
		return analyzeSettings(f.Path, text)
	default:
		return analyzeProject(text)
	}
}
