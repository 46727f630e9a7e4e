// Package dotnet recognizes gRPC servers in C#, F# and VB with ASP.NET Core's server, Kestrel, or with Grpc.Core, in
// sources and in publish folders. Begin with [Analyzer].
//
// The patterns of evidence are in rules.go for sources, in msbuild.go for project files, and in publish.go for built
// programs. The endpoints of Kestrel are in kestrel.go, by sources, and in settings.go, by settings.
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

// extra is the content of a file beside its findings.
type extra struct {
	// project is the content of a project file of MSBuild. A project without a file is a program.
	project msbuildProject
	// isHosted is set if a source has a class that the host of a program starts.
	isHosted bool
}

// languageOf maps the extension of a source to the plan's name of the language.
var languageOf = map[string]string{".cs": "csharp", ".fs": "fsharp", ".vb": "vb"}

var (
	// testPaths matches the paths of tests, by the usual names of test projects and test files: Shop.Tests,
	// Shop.UnitTests, ShopTests, tests. A directory GrpcTest may hold somebody's first server: there the project file
	// decides.
	testPaths = lazyregexp.New(
		`(?:^|[/._-])(?i:tests?|testing|testdata|(?:unit|integration|functional|acceptance|e2e)tests?)(?:/|\.\w+$)|` +
			`[a-z0-9]Tests(?:/|\.\w+$)`)
	// outputPaths matches the output of the compiler. In bin, only publish folders are read.
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
		return nil, nil // the services are known anyway
	case strings.HasSuffix(f.Path, ".deps.json"):
		return analyzePublishFolder(f, text)
	case ext == ".json":
		return analyzeSettings(f.Path, text)
	default:
		return analyzeProject(text)
	}
}
