// Package rust recognizes gRPC servers in Rust: those of tonic, and of the other crates that serve gRPC.
//
// Begin with [Analyzer]. A server is recognized by the paths that a source uses (rules.go), after its use declarations
// have said what each name stands for (uses.go) and the items that are compiled for tests only were left out
// (tests.go).
package rust

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// Analyzer recognizes gRPC servers in Rust.
var Analyzer = analyzer.New(definition)

var definition = analyzer.Definition[extra]{
	Language:    analyzer.Language{Name: "rust", Title: "Rust", Frameworks: frameworks},
	Required:    required,
	MayServe:    keywords.In,
	Analyze:     analyze,
	PostAnalyze: postAnalyze,
}

// extra is what a file tells beside its findings.
type extra struct {
	// Cargo is what the file says if it is a Cargo.toml, and Library how programs name the library of its crate.
	Cargo   *cargo
	Library string
	// IsLibrary says that the file is the root of a library, and HasMain that it begins a program.
	IsLibrary, HasMain bool
	// TestModules are the paths, without ".rs", of modules that are compiled for tests only.
	TestModules []string
	// StandardHealth says that the file is grpc/health/v1/health.proto, or that it includes code generated from it.
	StandardHealth bool
	// Packages are the protobuf packages whose code the source includes, by the module that it is in. OldHealth says
	// that the file is a Cargo.toml with a tonic-health that knows nothing until a status is set.
	Packages  map[string]string
	OldHealth bool
	// Settings are the names, without extensions, of files with settings that the file names.
	// IsSettings says that it is such a file.
	Settings   []string
	IsSettings bool
	// FieldsAlone are the fields that the source gives a value, of which struct is not seen, and FieldTypes the names
	// of those whose type is a struct, by its name.
	FieldsAlone []string
	FieldTypes  map[string][]string
	// LoadsEnvironment says that the source loads a file .env.
	LoadsEnvironment bool
}

var (
	// otherDirs are directories that Cargo builds into no program of the package (tests, benches: The Cargo Book,
	// Package Layout), that it builds into (target), and common names of crates that serve tests.
	otherDirs = source.Exactly(`tests?|benches|target|fuzz|mocks?|e2e|testing|testdata|fixtures|` +
		`test[-_]?(utils?|helpers?|support)|(integration|e2e)[-_]tests?|[\w-]+[-_]tests|tests?[-_](integration|e2e)`)
	// otherFiles are files that hold the tests of a module or serve them, and build scripts.
	otherFiles = source.Exactly(`tests?\.rs|tests?_.*\.rs|.*_tests?\.rs|mocks?\.rs|build\.rs`)
)

const manifest = "Cargo.toml"

func required(file string) bool {
	name := path.Base(file)
	if !strings.HasSuffix(file, ".rs") && name != manifest && name != analyzer.EnvironmentFile &&
		!strings.HasSuffix(name, ".proto") && !settingsFile.MatchString(name) {
		return false
	}
	return !otherFiles.MatchString(name) && !tree.AnyDirMatches(file, otherDirs) && !tree.IsExampleInDocs(file)
}

func analyze(f *tree.File) (*analyzer.Result[extra], error) {
	text, err := f.Text()
	if err != nil {
		return nil, err
	}
	switch name := path.Base(f.Path); {
	case name == manifest:
		return analyzeManifest(text)
	case name == analyzer.EnvironmentFile:
		return analyzer.Environment[extra](text), nil
	case strings.HasSuffix(name, ".proto"):
		return analyzeProto(text), nil
	case settingsFile.MatchString(name):
		return analyzeSettings(f.Path, text)
	}
	return analyzeSource(f.Path, text), nil
}

// analyzeManifest reads a Cargo.toml. The directory of one that is no TOML is a project too.
func analyzeManifest(text []byte) (*analyzer.Result[extra], error) {
	var of cargo
	if _, err := untrusted.DecodeTOML(text, &of); err != nil {
		return &analyzer.Result[extra]{ProjectRoot: true}, fmt.Errorf("leaving out a file that is not TOML: %w", err)
	}
	dependencies := []any{of.Dependencies[tonicHealth]}
	if of.Workspace != nil {
		dependencies = append(dependencies, of.Workspace.Dependencies[tonicHealth])
	}
	library := strings.ReplaceAll(of.Package.Name, "-", "_")
	if of.Lib != nil {
		library = cmp.Or(of.Lib.Name, library)
	}
	return &analyzer.Result[extra]{ProjectRoot: true, Extra: extra{
		Cargo: &of, Library: library, OldHealth: slices.ContainsFunc(dependencies, isOldHealth),
	}}, nil
}

// healthPackage is the package statement of grpc/health/v1/health.proto.
var healthPackage = lazyregexp.New(`(?m)^\s*package\s+grpc\.health\.v1\s*;`)

func analyzeProto(text []byte) *analyzer.Result[extra] {
	if !healthPackage.Match(text) {
		return nil
	}
	return &analyzer.Result[extra]{Extra: extra{StandardHealth: true}}
}

var (
	keywords = analyzer.Keywords(frameworks)
	// withoutDefault are parts of fields that have no default, which say that a field of the same name is not the only
	// one, and of what gives fields a value.
	withoutDefault = source.NewKeywords(
		"port: u16", "addr: SocketAddr", "addr: String", "address: String",
		"_port = ", ".port = ", "addr = ", "address = ", "static ref ", "Lazy<", "LazyLock<",
	)
	// handsOn are in sources that may give functions of others an address, whose port they need not have.
	handsOn = source.NewKeywords("addr,", "addr)", "address,", "address)", "port,", "port)", "listen,", "listen;")
	// healthIncluded is the name of the code that prost and tonic generate for grpc.health.v1, if a source includes
	// it.
	healthIncluded = lazyregexp.New(`"[^"\n]*\bgrpc\.health\.v1(?:\.rs)?"`)
	// loadsEnvironment is in sources that load a file .env: by dotenv or dotenvy.
	loadsEnvironment = []byte("dotenv")
)

var (
	// interceptorLayer gives all services of a server an interceptor, a function before whose calls it is called.
	interceptorLayer = lazyregexp.New(`\blayer\s*\(\s*(?:\w+::)*(?:interceptor|InterceptorLayer::new)\s*\(`)
	interceptor      = lazyregexp.New(`\bRequest<\(\)>`)
)

// analyzeSource reads the source in a file. A source without a keyword can still declare modules that are compiled for
// tests only.
func analyzeSource(file string, text []byte) *analyzer.Result[extra] {
	hasKeyword := keywords.In(text)
	isSmall := len(text) <= maxConstantsSource
	declares := isSmall &&
		(address.MayState(text) || withoutDefault.In(text) || bytes.Contains(text, []byte("fn main(")))
	settings := namedSettings(text)
	loads := bytes.Contains(text, loadsEnvironment)
	gives := declares || isSmall && handsOn.In(text)
	if !hasKeyword && !gives && settings == nil && !loads && !bytes.Contains(text, includeProto) &&
		!bytes.Contains(text, []byte("test")) ||
		isGenerated(text) {
		return root(file)
	}
	return read(file, text, declares, gives, settings)
}

// root returns the result for a source with nothing of interest: that it is the root of a library or a program, if it
// is.
func root(file string) *analyzer.Result[extra] {
	library, program := rootsOf(file)
	return &analyzer.Result[extra]{Extra: extra{IsLibrary: library, HasMain: program}}
}

// read reads a source, which may declare something for others, give their functions something, or name settings.
func read(file string, text []byte, declares, gives bool, settings []string) *analyzer.Result[extra] {
	hasKeyword := keywords.In(text)
	t := grammar.Read(text)
	modules, all := blankTests(t)
	if all {
		return &analyzer.Result[extra]{Extra: extra{TestModules: []string{strings.TrimSuffix(file, ".rs")}}}
	}
	isLibrary, isProgram := rootsOf(file)
	result := &analyzer.Result[extra]{
		Extra: extra{
			IsLibrary: isLibrary, HasMain: isProgram || t.Matches(mainFunction),
			TestModules: modulePaths(file, modules), StandardHealth: healthIncluded.Match(text), Settings: settings,
			LoadsEnvironment: bytes.Contains(t.Code, loadsEnvironment), Packages: includedPackages(file, t),
		},
	}
	var u *uses
	var made []construction
	if hasKeyword || gives {
		u = readUses(t)
	}
	if hasKeyword {
		result.Findings, made = findings(t, u)
	}
	if declares = declares || len(result.Findings) > 0; declares || gives {
		d := readDeclarations(t, moduleOf(file))
		names := func() *address.Names { return d }
		result.Findings = analyzer.MarkHealth(t, names, result.Findings, finding.Is[healthServer],
			func(at, _ int) []source.Span {
				isOfSystem := func(s source.Span) bool { return featureOf(t, s) == "" }
				return slices.DeleteFunc(compiled(t, at), isOfSystem)
			})
		result.Findings = append(result.Findings, listenersOfEach(d, made, result.Findings)...)
		if hasKeyword {
			result.Findings = append(result.Findings, analyzer.HealthChecks(t)...)
			if t.Matches(interceptorLayer) {
				result.Findings = append(result.Findings, analyzer.Authentications(t, function, interceptor)...)
			}
		}
		if result.Declares = given(d, u); declares {
			result.Declares = append(result.Declares, readConstants(d)...)
			result.Extra.FieldsAlone, result.Extra.FieldTypes = fieldsAlone(t), fieldTypes(t)
		}
	}
	return result
}

// listenersOfEach returns the listeners of the servers that a file makes. If it makes several, the health service among
// the findings is told to be that of the one that gets it.
func listenersOfEach(d *address.Names, made []construction, found []finding.Finding) []finding.Finding {
	listening := listeners(d, made)
	if slices.ContainsFunc(listening, isOfOne) {
		tellHealthApart(d, found)
	}
	return listening
}

// modulePaths returns where the modules that a file declares are: beside it, or in the directory of the file's name
// (The Rust Reference, Module Source Filenames).
func modulePaths(file string, modules []string) []string {
	dir, name := path.Split(strings.TrimSuffix(file, ".rs"))
	if name != "main" && name != "lib" && name != "mod" {
		dir = path.Join(dir, name)
	}
	var paths []string
	for _, m := range modules {
		paths = append(paths, path.Join(dir, m))
	}
	return paths
}
