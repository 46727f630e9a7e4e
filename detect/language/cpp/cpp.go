// Package cpp recognizes gRPC servers in C++: of grpc++, in sources and in built programs, and of userver.
// Begin with [Analyzer].
package cpp

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Analyzer recognizes gRPC servers in C++.
var Analyzer = analyzer.New(definition)

var definition = analyzer.Definition[extra]{
	Language:    analyzer.Language{Name: "cpp", Title: "C++", Frameworks: frameworks, Toolchain: toolchain},
	Required:    required,
	MayServe:    keywords.In,
	Analyze:     analyze,
	PostAnalyze: postAnalyze,
}

// extra holds the results of a file beside the findings.
type extra struct {
	// linksArchive means that the file is a program linked with the archive libgrpc++.a. The health service of such a
	// program is unknown: the server's code in the archive needs the object file that registers the service, so
	// the program has the symbol even if the app makes no call.
	linksArchive bool
	// programs maps sources to the programs that CMake builds.
	programs map[string]string
}

var extensions = []string{".cc", ".cpp", ".cxx", ".c++", ".C", ".h", ".hh", ".hpp", ".hxx", ".ipp"}

// otherDirs are directories outside of the app's programs: tests, files that the build writes or fetches, and
// third-party code, under the many names in C++ projects. The comparison is in lower case.
var otherDirs = []string{
	"test", "tests", "testing", "testdata", "test_package", "unittest", "unittests", "unit_test", "unit_tests", "gtest",
	"gmock", "mock", "mocks", "ut", "functional_tests", "integration_tests", "e2e", "fuzz", "fuzzing",
	"third_party", "third-party", "thirdparty", "3rdparty", "3rd_party", "3rd-party", "external", "externals", "extern",
	"deps", "submodules", "subprojects", "_deps", "vcpkg_installed", "conan",
	"build", "out", "debug", "release", "cmakefiles",
}

var (
	// buildDirs are names of directories of build output, by Bazel, CLion and people.
	buildDirs = lazyregexp.New(`^(?:bazel-|cmake-build-|build[-_])`)
	// testNames are the names of tests, of sources without their extensions and of programs.
	testNames = lazyregexp.New(
		`(?i:^test_|^mock_|[_-](?:test|tests|unittest|unittests|ut|mock|benchmark)$)|[a-z]Tests?$`)
	// generatedNames are the names of files from protoc and the plugin of grpc++.
	generatedNames = lazyregexp.New(`\.pb\.\w+$|_mock\.grpc\.`)
)

func required(file string) bool {
	name := path.Base(file)
	ext := path.Ext(name)
	switch {
	case slices.Contains(extensions, ext):
		return isOwnDir(path.Dir(file)) && !generatedNames.MatchString(name) &&
			!testNames.MatchString(strings.TrimSuffix(name, ext))
	case ext == ".proto", name == "CMakeLists.txt", name == "static_config.yaml", tree.IsBazelFile(name):
		return isOwnDir(path.Dir(file))
	}
	return tree.IsExecutableName(name) && !strings.Contains(name, ".so.") && !testNames.MatchString(name) &&
		isOwnDir(path.Dir(file))
}

// isOwnDir reports whether code in a directory may be the app's own.
func isOwnDir(dir string) bool {
	for name := range strings.SplitSeq(dir, "/") {
		if slices.Contains(otherDirs, strings.ToLower(name)) || buildDirs.MatchString(name) {
			return false
		}
	}
	return !tree.IsExampleInDocs(dir + "/")
}

func analyze(f *tree.File) (*analyzer.Result[extra], error) {
	ext := path.Ext(f.Path)
	if tree.IsBazelFile(f.Path) {
		return analyzer.BazelTests[extra](f)
	}
	if ext == ".proto" { // has only names of services
		return nil, nil
	}
	if !slices.Contains(extensions, ext) && ext != ".txt" && ext != ".yaml" {
		return tree.ReadELF(f, readProgram)
	}
	text, err := f.Text()
	if err != nil {
		return nil, err
	}
	switch ext {
	case ".txt":
		return analyzeCMakeLists(path.Dir(f.Path), text), nil
	case ".yaml":
		return analyzeStaticConfig(text)
	}
	return analyzeSource(text), nil
}

var (
	cmakeProject = lazyregexp.New(`(?im)^\s*project\s*\(`)
	executable   = lazyregexp.New(`(?im)^[ \t]*add_executable\s*\(\s*([\w.-]+)([^()]*)\)`)
)

// analyzeCMakeLists reads the programs in a CMakeLists.txt, and tells a project from a subdirectory.
func analyzeCMakeLists(dir string, text []byte) *analyzer.Result[extra] {
	programs := map[string]string{}
	for _, m := range executable.FindAllSubmatch(text, maxGiven) {
		for file := range strings.FieldsSeq(string(m[2])) {
			programs[path.Join(dir, strings.Trim(file, `"`))] = path.Join(dir, string(m[1]))
		}
	}
	isRoot := cmakeProject.Match(text)
	if !isRoot && len(programs) == 0 {
		return nil
	}
	return &analyzer.Result[extra]{ProjectRoot: isRoot, Extra: extra{programs: programs}}
}
