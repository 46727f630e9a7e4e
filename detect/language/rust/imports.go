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
	// included is the code that tonic-build generates for a package of Protocol Buffers, in a module or in the file.
	included = lazyregexp.New(`(?:\bmod\s+(?P<name>\w+)\s*\{\s*)?\b(?:tonic::)?include_proto!\s*\(\s*"(?P<package> +)"`)
	// generatedServer is the path of a server in such code.
	generatedServer = lazyregexp.New(`(?:^|::)(?:(\w+)::)?\w+_server::(\w+)Server$`)
)

const (
	// maxUseDepth is how many braces of a use declaration may lie in each other.
	maxUseDepth = 8
	// maxPaths is how many paths in the code of a file are looked at.
	maxPaths = 4000
	// maxIncluded is how many packages are looked at that a file includes.
	maxIncluded = 64
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

// servicesIncluded returns the full names of the services whose servers a file imports from generated code that it
// includes itself.
func servicesIncluded(t *source.Text, imports []string) []string {
	packages := map[string]string{}
	for _, m := range t.FindAll(included, maxIncluded) {
		module, _ := t.Group(included, m, "name")
		i := 2 * included.SubexpIndex("package")
		packages[module] = string(t.Raw[m[i]:m[i+1]])
	}
	var all []string
	for _, path := range imports {
		if m := generatedServer.FindStringSubmatch(path); m != nil && packages[m[1]] != "" {
			all = append(all, packages[m[1]]+"."+m[2])
		}
	}
	return all
}
