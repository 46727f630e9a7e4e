// Package rust recognizes gRPC servers in Rust, of tonic and of more crates that serve gRPC.
//
// Begin with [Analyzer]. A server is recognized by the paths in a source (rules.go), resolved by the use declarations
// (imports.go). Items compiled for tests only are left out (tests.go). ports.go finds the listeners, and crates.go the
// crates with programs.
package rust

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// Analyzer recognizes gRPC servers in Rust.
var Analyzer = analyzer.New(definition)

var definition = analyzer.Definition[extra]{
	Language:    analyzer.Language{Name: "rust", Title: "Rust", Frameworks: frameworks, Toolchain: toolchain},
	Required:    required,
	MayServe:    keywords.In,
	Analyze:     analyze,
	PostAnalyze: postAnalyze,
}

// extra is the content of a file beside the findings.
type extra struct {
	// Cargo is the content of a Cargo.toml, and HasOldHealth says that the Cargo.toml requires a tonic-health before
	// 0.6, whose health service knows nothing until the app sets a status (tonic-health/src/server.rs of tonic).
	Cargo        *cargo
	HasOldHealth bool
	// IsLibrary says that the file begins or declares a library (The Cargo Book, Package Layout), and IsProgram a
	// program, or a library for programs to load: a plugin, an extension of Python.
	IsLibrary, IsProgram bool
	// TestModules are the paths, without ".rs", of modules that are compiled for tests only.
	TestModules []string
	// LoadsEnvironment says that the source loads the file .env, and Environment are the addresses in a .env.
	LoadsEnvironment bool
	Environment      map[string]address.Address
}

var (
	// otherDirs are directories that Cargo builds into no program of the package (tests, benches: The Cargo Book,
	// Package Layout), the directory of builds (target), and common names of crates that serve tests.
	otherDirs = source.Exactly(`tests?|benches|target|fuzz|mocks?|e2e|testing|testdata|fixtures|` +
		`test[-_]?(utils?|helpers?|support)|(integration|e2e)[-_]tests?|[\w-]+[-_]tests|tests?[-_](integration|e2e)`)
	// otherFiles are files with the tests of a module, files for tests, and build scripts.
	otherFiles = source.Exactly(`tests?\.rs|tests?_.*\.rs|.*_tests?\.rs|mocks?\.rs|build\.rs`)
)

const manifest = "Cargo.toml"

func required(file string) bool {
	name := path.Base(file)
	isKnown := strings.HasSuffix(name, ".rs") || strings.HasSuffix(name, ".proto") || name == manifest ||
		file == analyzer.EnvironmentFile // in the app's folder, from which the image starts programs
	isOther := otherFiles.MatchString(name) || tree.AnyDirMatches(file, otherDirs) || tree.IsExampleInDocs(file)
	return isKnown && !isOther
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
		return &analyzer.Result[extra]{Extra: extra{Environment: address.EnvironmentFile(text)}}, nil
	case strings.HasSuffix(name, ".proto"):
		return nil, nil
	}
	return analyzeSource(f.Path, text), nil
}

// analyzeManifest reads a Cargo.toml. The directory of a Cargo.toml without valid TOML is a project too.
func analyzeManifest(text []byte) (*analyzer.Result[extra], error) {
	var of cargo
	_, err := untrusted.DecodeTOML(text, &of)
	if err != nil {
		of, err = cargo{}, fmt.Errorf("leaving out a file that is not TOML: %w", err)
	}
	is := extra{Cargo: &of, HasOldHealth: oldHealth.Match(text)}
	is.IsLibrary, is.IsProgram = of.Lib != nil, of.Bin != nil || isLoaded.Match(text)
	return &analyzer.Result[extra]{ProjectRoot: true, Extra: is}, err
}

// isLoaded says that a library is made for other programs, and oldHealth is a requirement that only versions of
// tonic-health before 0.6 meet.
var (
	isLoaded  = lazyregexp.New(`\bcrate-type\s*=\s*\[[^\]]*"(?:c?dylib|staticlib|proc-macro)"`)
	oldHealth = lazyregexp.New(`(?m)^[ \t]*tonic-health[ \t]*=[^\n]*"[ \t]*[=^~]?[ \t]*0\.[1-5](?:\.[^"]*)?"`)
)

var (
	keywords = analyzer.Keywords(frameworks)
	// mainFunction begins a program, in src/main.rs, in src/bin, or in a file named in Cargo.toml.
	mainFunction = lazyregexp.New(`(?m)^(?:pub\s+)?(?:async\s+)?fn\s+main\s*\(`)
	// ownHealth is no generated server.
	ownHealth = lazyregexp.New(`\bstruct\s+HealthServer\b`)
	// healthIncluded is the name of the code that prost and tonic generate for grpc.health.v1, if a source includes
	// the code.
	healthIncluded = lazyregexp.New(`"[^"\n]*\bgrpc\.health\.v1(?:\.rs)?"`)
	// featureGate is an attribute by which a feature decides on the compilation of the next block.
	featureGate = lazyregexp.New(`#\[\s*cfg\s*\([^\]]*\bfeature\b[^\]]*\]`)
)

// analyzeSource reads the source in a file. A source without a keyword can still declare modules that are compiled for
// tests only.
func analyzeSource(file string, text []byte) *analyzer.Result[extra] {
	hasKeyword := keywords.In(text)
	result := &analyzer.Result[extra]{Extra: extra{IsLibrary: strings.HasSuffix("/"+file, "/src/lib.rs")}}
	if !hasKeyword && !bytes.Contains(text, []byte("test")) && !bytes.Contains(text, []byte("fn main")) ||
		isGenerated(text) {
		return result
	}
	t := grammar.Read(text)
	is := &result.Extra
	is.TestModules, is.IsProgram = blankTests(file, t), t.Matches(mainFunction)
	result.Health.Standard, result.Health.Own = healthIncluded.Match(text), t.Matches(ownHealth)
	is.LoadsEnvironment = bytes.Contains(t.Code, []byte("dotenv"))
	if !hasKeyword {
		return result
	}
	for _, m := range t.FindAll(featureGate, -1) { // as a condition of Rust is written
		source.Blank(t.Code[m[0]:m[1]])
		copy(t.Code[m[0]:m[1]], "if feature")
	}
	imports := readImports(t)
	result.Services = servicesIncluded(t, imports)
	found := evidence(t, imports)
	found = analyzer.MarkConditional(t, listeners(t, found), finding.Is[healthServer])
	result.Findings = append(analyzer.Associate(t, found), analyzer.HealthChecks(t)...)
	return result
}
