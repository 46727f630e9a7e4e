package rust

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	useDeclaration = lazyregexp.New(`\b(?:use|extern\s+crate)\s+([^;]+);`)
	// useTree is a part of one: what stands before a brace, a path, or a closing brace.
	useTree = lazyregexp.New(`((?:\s*::)?(?:\s*\w+\s*::)*)\s*(?:\{|(\w+|\*)(?:\s+as\s+\w+)?)|\}`)
	// fullPath is a path in code.
	fullPath = lazyregexp.New(`\b\w+(?:::\w+)+`)
)

const (
	// maxUseDepth is how many braces of a use declaration may lie in each other.
	maxUseDepth = 8
	// maxPaths is how many paths in the code of a file are looked at.
	maxPaths = 4000
)

// readImports returns the paths that the use declarations of a file bring into it, those of all its modules and
// functions together, and those that its code names in full. It blanks the declarations: to import a name is not to use
// it.
func readImports(t *source.Text) []string {
	var all []string
	for _, m := range t.FindAll(useDeclaration, -1) {
		prefixes := []string{""}
		for _, part := range useTree.FindAllStringSubmatch(string(t.Code[m[2]:m[3]]), -1) {
			path := prefixes[len(prefixes)-1] + strings.Join(strings.Fields(part[1]+part[2]), "")
			switch {
			case part[0] == "}":
				prefixes = prefixes[:max(len(prefixes)-1, 1)]
			case part[2] != "":
				all = append(all, path)
			case len(prefixes) <= maxUseDepth:
				prefixes = append(prefixes, path)
			}
		}
		source.Blank(t.Code[m[0]:m[1]])
	}
	for _, m := range t.FindAll(fullPath, maxPaths) {
		all = append(all, string(t.Code[m[0]:m[1]]))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
