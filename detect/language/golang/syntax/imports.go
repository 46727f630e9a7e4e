package syntax

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Imports are the imports of a file.
type Imports struct {
	All []string // import paths
	// Dots are the import paths of the packages whose names are used without a package name, up to maxDots.
	Dots []string

	byName map[string]string // import paths by the package names in the file
	// matches are the answers of AnyMatches: some are asked for at every call, and a file may have many imports.
	matches map[*lazyregexp.Regexp]bool
}

// maxDots bounds the followed dot imports of a file: each name that the file does not declare may come from
// any.
const maxDots = 16

// newImports reads the imports of a file. A package whose import path ends in several words gets two guessed
// names: that of github.com/crossplane/function-sdk-go is function. The second one holds if nothing else has the name.
func newImports(file *ast.File) *Imports {
	t := &Imports{byName: map[string]string{}, matches: map[*lazyregexp.Regexp]bool{}}
	guesses := map[string]string{}
	for _, spec := range file.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		t.All = append(t.All, importPath)
		switch {
		case spec.Name == nil:
			t.byName[packageName(importPath)] = importPath
			first, _, _ := strings.Cut(lastElement(importPath), "-")
			guesses[first] = importPath
		case spec.Name.Name != ".":
			t.byName[spec.Name.Name] = importPath
		case len(t.Dots) < maxDots:
			t.Dots = append(t.Dots, importPath)
		}
	}
	for name, importPath := range guesses {
		if t.byName[name] == "" {
			t.byName[name] = importPath
		}
	}
	return t
}

// Has reports whether the file imports a package.
func (t *Imports) Has(importPath string) bool { return slices.Contains(t.All, importPath) }

// AnyMatches reports whether one of the import paths matches a pattern.
func (t *Imports) AnyMatches(pattern *lazyregexp.Regexp) bool {
	matches, known := t.matches[pattern]
	if !known {
		matches = slices.ContainsFunc(t.All, pattern.MatchString)
		t.matches[pattern] = matches
	}
	return matches
}

var majorVersion = lazyregexp.New(`^v\d+$`)

// packageName guesses the name of a package from its import path, as goimports does.
func packageName(importPath string) string {
	base := strings.TrimSuffix(lastElement(importPath), "-go")
	return base[strings.LastIndexByte(base, '-')+1:]
}

// lastElement returns the last part of an import path that may hold the name of the package.
func lastElement(importPath string) string {
	base := path.Base(importPath)
	if majorVersion.MatchString(base) && path.Dir(importPath) != "." {
		base = path.Base(path.Dir(importPath))
	}
	base, _, _ = strings.Cut(strings.TrimPrefix(base, "go-"), ".")
	return base
}
