package golang

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// importTable is what a file imports.
type importTable struct {
	all    []string          // import paths
	byName map[string]string // import paths by the names that the file calls the packages
	dots   []string          // import paths of the packages whose names are used without a package name
	// matches are the answers of anyMatches: some are asked for at every call, and a file may have many imports.
	matches map[*regexp.Regexp]bool
}

// maxDotImports is how many dot imports of a file are followed: each name that the file does not declare may come from
// any.
const maxDotImports = 16

func newImportTable(file *ast.File) *importTable {
	t := &importTable{byName: map[string]string{}, matches: map[*regexp.Regexp]bool{}}
	for _, spec := range file.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		t.all = append(t.all, importPath)
		switch {
		case spec.Name == nil:
			t.byName[packageName(importPath)] = importPath
		case spec.Name.Name != ".":
			t.byName[spec.Name.Name] = importPath
		case len(t.dots) < maxDotImports:
			t.dots = append(t.dots, importPath)
		}
	}
	return t
}

// anyMatches reports whether one of the import paths matches a pattern.
func (t *importTable) anyMatches(pattern *regexp.Regexp) bool {
	matches, known := t.matches[pattern]
	if !known {
		matches = slices.ContainsFunc(t.all, pattern.MatchString)
		t.matches[pattern] = matches
	}
	return matches
}

// pathOf returns the import path of the package that a selector selects from, and "" where it selects a method or a
// field.
func (t *importTable) pathOf(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok && x.Obj == nil {
			return t.byName[x.Name]
		}
	}
	return ""
}

var majorVersion = regexp.MustCompile(`^v\d+$`)

// packageName guesses the name of a package from its import path, as goimports does.
func packageName(importPath string) string {
	base := path.Base(importPath)
	if majorVersion.MatchString(base) && path.Dir(importPath) != "." {
		base = path.Base(path.Dir(importPath))
	}
	base, _, _ = strings.Cut(strings.TrimPrefix(base, "go-"), ".")
	base = strings.TrimSuffix(base, "-go")
	return base[strings.LastIndexByte(base, '-')+1:]
}
