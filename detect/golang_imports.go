package detect

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// goImportTable holds a file's imports by the name they go by.
type goImportTable struct {
	byName map[string]string
	dots   []string
	all    []string
}

func goImports(f *ast.File) goImportTable {
	t := goImportTable{byName: map[string]string{}}
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		t.all = append(t.all, p)
		switch {
		case spec.Name == nil:
			t.byName[goDefaultName(p)] = p
		case spec.Name.Name == ".":
			t.dots = append(t.dots, p)
		default:
			t.byName[spec.Name.Name] = p
		}
	}
	return t
}

func (t goImportTable) any(pattern *regexp.Regexp) bool {
	return slices.ContainsFunc(t.all, pattern.MatchString)
}

var goVersionSuffix = regexp.MustCompile(`^v\d+$`)

// goDefaultName guesses the package's name from its path, as goimports does.
func goDefaultName(p string) string {
	base := path.Base(p)
	if goVersionSuffix.MatchString(base) && path.Dir(p) != "." {
		base = path.Base(path.Dir(p))
	}
	base, _, _ = strings.Cut(strings.TrimPrefix(base, "go-"), ".")
	base = strings.TrimSuffix(base, "-go")
	return base[strings.LastIndexByte(base, '-')+1:]
}
