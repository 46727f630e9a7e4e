// Package imports tests which packages of this module import which. The directions are those of the map in
// CONTRIBUTING.md: what both phases share knows neither, detect and build do not know each other, and the probe knows
// nothing of buildpacks.
package imports

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/grpc-cnb/health-probe/"

// rule says what the packages that match a pattern may import of this module.
type rule struct {
	packages string
	imports  []string
}

// rules say what the packages of this module may import of it. The first rule whose pattern matches a package applies
// to it.
//
// A pattern is a path below the module's. Its end "/..." matches the path itself and all paths below it, and "NAME"
// matches one part of a path. In the patterns of imports, NAME stands for the part that it matched in the package's
// path.
var rules = []rule{
	{"internal/lazyregexp", nil},
	{"internal/nearest", nil},
	{"internal/config", []string{"internal/lazyregexp", "internal/nearest"}},
	{"internal/...", []string{"internal/intime", "internal/lazyregexp"}},

	{"detect/tree/...", []string{"detect/tree/...", "internal/lazyregexp", "internal/plan", "internal/untrusted"}},
	{"detect/source/...", []string{
		"detect/source/...", "internal/lazyregexp", "internal/plan", "internal/untrusted",
	}},
	{"detect/address", []string{
		"detect/source", "detect/tree/procfile", "internal/hostport", "internal/lazyregexp", "internal/plan",
		"internal/untrusted",
	}},
	{"detect/finding", []string{
		"detect/address", "detect/source", "detect/tree", "internal/lazyregexp", "internal/plan",
	}},
	{"detect/analyzer/...", []string{
		"detect/analyzer/...", "detect/address", "detect/finding", "detect/source/...", "detect/tree/...",
		"internal/lazyregexp", "internal/plan", "internal/untrusted",
	}},
	{"detect/language/NAME/...", []string{
		"detect/language/NAME/...", "detect/analyzer/...", "detect/address", "detect/finding",
		"detect/source/...", "detect/tree/...", "internal/lazyregexp", "internal/plan", "internal/untrusted",
	}},
	{"detect/buildplan", []string{
		"detect", "internal/config", "internal/descriptor", "internal/intime", "internal/plan",
	}},
	{"detect/...", []string{
		"detect/...", "internal/config", "internal/intime", "internal/plan", "internal/untrusted",
	}},

	{"build/archive", nil},
	{"build/executable/...", []string{"build/executable/..."}},
	{"build/launch", nil},
	{"build/sbom/...", []string{"build/sbom/..."}},
	{"build/github/...", []string{"build/github/...", "internal/config", "internal/lazyregexp"}},
	{"build/githubassets", []string{
		"build/archive", "build/executable", "build/github", "build/launch", "build/sbom",
		"internal/config", "internal/lazyregexp", "internal/nearest", "internal/plan", "internal/untrusted",
	}},
	{"build/execprobe", []string{
		"internal/config", "internal/plan", "probe/bridge/bridgeflags", "probe/check/address", "probe/check/options",
		"probe/check/outcome", "probe/flags",
	}},
	{"build", []string{
		"build/archive", "build/execprobe", "build/executable", "build/github", "build/githubassets", "build/launch",
		"build/sbom", "internal/config", "internal/descriptor", "internal/lazyregexp", "internal/plan",
		"probe/bridge/bridgeflags", "probe/check/outcome", "probe/flags",
	}},

	{"probe/check/outcome", nil},
	{"probe/check/address", []string{"internal/hostport", "probe/check/outcome", "probe/check/rawfile"}},
	{"probe/check/options", []string{"probe/check/address", "probe/check/metadata", "probe/check/outcome"}},
	{"probe/check/NAME", []string{"probe/check/outcome", "probe/check/rawfile"}},
	{"probe/sockets", []string{
		"internal/hostport", "probe/check/address", "probe/check/outcome", "probe/check/rawfile", "probe/http2",
	}},
	{"probe/check", []string{"probe/check/...", "probe/http2", "probe/sockets"}},
	{"probe/discover", []string{"probe/check/...", "probe/sockets"}},
	{"probe/http2", nil},
	{"probe/lean", []string{"probe/check/...", "probe/http2"}},
	{"probe/grpcgo", []string{"probe/check/..."}},
	{"probe/flags", []string{
		"internal/nearest", "probe/check/address", "probe/check/metadata", "probe/check/options", "probe/check/outcome",
		"probe/check/rawfile",
	}},
	{"probe", []string{"probe/check/...", "probe/discover", "probe/flags"}},
	{"probe/bridge/bridgeflags", []string{
		"probe/check/address", "probe/check/options", "probe/check/outcome", "probe/flags",
	}},
	{"probe/bridge/linelog", nil},
	{"probe/bridge/background", []string{
		"probe/bridge/bridgeflags", "probe/bridge/linelog", "probe/check/outcome", "probe/check/rawfile",
	}},
	{"probe/bridge", []string{
		"probe/bridge/background", "probe/bridge/bridgeflags", "probe/bridge/linelog", "probe/check/...", "probe/http2",
		"probe/lean",
	}},
	{"probe/probetest", nil},
	{"probe/bench/...", []string{"internal/cgroup", "probe/probetest"}},

	{"cmd/buildpack", []string{"build", "build/githubassets", "detect/buildplan", "internal/bindings"}},
	{"cmd/grpc_health_probe", []string{"probe", "probe/lean", "probe/grpcgo"}}, // where the lean one has no sockets
	{"cmd/grpc_health_inspect", []string{
		"build/execprobe", "detect", "internal/config", "internal/plan",
	}},
	{"cmd/grpc_health_bridge", []string{"probe/bridge"}},
	{"cmd/grpc_health_probe_full", []string{"probe", "probe/grpcgo"}},
	{"scripts/pindigests", []string{"build/executable", "build/github", "internal/config", "internal/descriptor"}},
	{"scripts/openvex", []string{"build/sbom"}},
	{"scripts/release", []string{"build/sbom", "scripts/openvex"}},
	{"scripts/sbom", []string{"build/archive", "build/sbom"}},
	{"scripts/vulncheck", []string{"scripts/openvex"}},
}

// testRules say what the tests of packages may import in addition.
var testRules = []rule{
	{"build", []string{"build/labeltest"}},
	{"build/execprobe", []string{"probe/check", "probe/lean"}},
	{"internal/config", []string{"internal/descriptor"}},
	{"probe/...", []string{"internal/cgroup", "probe/..."}},
	{"cmd/grpc_health_probe", []string{"probe/probetest"}},
	{"cmd/buildpack", []string{
		"build/executable/executabletest", "build/github/githubtest", "build/labeltest", "internal/config",
	}},
	{"cmd/grpc_health_inspect", []string{"build/labeltest"}},
	{"scripts/pindigests", []string{"build/executable/executabletest", "build/github/githubtest"}},
}

func TestImports(t *testing.T) {
	root := "../.."
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skip(root, name)
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		importer, isTest := filepath.ToSlash(relative), strings.HasSuffix(name, "_test.go")
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			imported, own := strings.CutPrefix(imported, module)
			if imported == "regexp" && !isTest && isAllowed(importer, "internal/lazyregexp", false) {
				t.Errorf("%s must import internal/lazyregexp instead of regexp", name)
			}
			if own && !isAllowed(importer, imported, isTest) {
				t.Errorf("%s must not import %s: see the rules in internal/imports", name, imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// skip leaves out folders that hold no packages of this module: other modules, test data and what was built.
func skip(root, dir string) error {
	if dir == root {
		return nil
	}
	base := filepath.Base(dir)
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	if err == nil || base == "testdata" || base == "dist" || strings.HasPrefix(base, ".") {
		return filepath.SkipDir
	}
	return nil
}

func isAllowed(importer, imported string, isTest bool) bool {
	if isTest && (importer == imported || imported == "internal/golden" || applies(testRules, importer, imported)) {
		return true // tests in a package of their own, as in detect_test, import the package that they test
	}
	return applies(rules, importer, imported)
}

// applies reports whether the first rule for the importer allows the import. A package without a rule may import
// nothing.
func applies(rules []rule, importer, imported string) bool {
	for _, r := range rules {
		if name, ok := match(r.packages, importer, ""); ok {
			return slices.ContainsFunc(r.imports, func(pattern string) bool {
				_, ok := match(pattern, imported, name)
				return ok
			})
		}
	}
	return false
}

// match reports whether a path matches a pattern, and returns what NAME in the pattern matched. If name is not empty,
// NAME matches nothing else.
func match(pattern, importPath, name string) (string, bool) {
	pattern, below := strings.CutSuffix(pattern, "/...")
	want, got := strings.Split(pattern, "/"), strings.Split(importPath, "/")
	if len(got) < len(want) || len(got) > len(want) && !below {
		return "", false
	}
	for i, part := range want {
		if part == "NAME" && (name == "" || name == got[i]) {
			name = got[i]
			continue
		}
		if part != got[i] {
			return "", false
		}
	}
	return name, true
}

func TestRules(t *testing.T) {
	for _, c := range []struct {
		importer, imported string
		want               bool
	}{
		{"detect/language/jvm", "detect/analyzer", true},
		{"detect/language/jvm", "detect/language/jvm/classfile", true},
		{"detect/language/jvm/classfile", "internal/plan", true},
		{"detect/language/jvm", "detect/language/node", false},
		{"detect/language/jvm/classfile", "detect/language/node", false},
		{"detect/language/jvm", "detect", false},
		{"detect/tree", "detect/analyzer", false},
		{"detect", "detect/language/jvm", true},
		{"detect", "internal/config", true},
		{"detect", "build/githubassets", false},
		{"build", "detect", false},
		{"build", "probe/flags", true},
		{"build", "probe", false},
		{"probe/flags", "probe/check", false},
		{"build", "probe/lean", false},
		{"build/githubassets", "build", false},
		{"probe", "internal/plan", false},
		{"probe/lean", "probe", false},
		{"probe/check/outcome", "probe/check", false},
		{"probe/lean", "build/sbom", false},
		{"internal/config", "internal/plan", false},
		{"internal/plan", "probe", false},
		{"scripts/new", "probe", false},
	} {
		if got := isAllowed(c.importer, c.imported, false); got != c.want {
			t.Errorf("%s imports %s: allowed is %t", c.importer, c.imported, got)
		}
	}
}
