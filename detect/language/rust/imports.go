package rust

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	useDeclaration = lazyregexp.New(`\b(?:use|extern\s+crate)\s+([^;]+);`)
	// useTree is a part of a use declaration: the text before a brace, a path, or a closing brace.
	useTree  = lazyregexp.New(`((?:\s*::)?(?:\s*\w+\s*::)*)\s*(?:\{|(\w+|\*)(?:\s+as\s+\w+)?)|\}`)
	fullPath = lazyregexp.New(`\b\w+(?:::\w+)+`)
	// included is the code that tonic-build generates for a package of Protocol Buffers, in a module or in the file.
	included = lazyregexp.New(`(?:\bmod\s+(?P<name>\w+)\s*\{\s*)?\b(?:tonic::)?include_proto!\s*\(\s*"(?P<package> +)"`)
	// generatedServer is the path of a server in included code.
	generatedServer = lazyregexp.New(`(?:^|::)(?:(\w+)::)?\w+_server::(\w+)Server$`)
)

const (
	// maxUseDepth bounds the nested braces of a use declaration.
	maxUseDepth = 8
	// maxPaths bounds the paths in the code of a file.
	maxPaths = 4000
	// maxIncluded bounds the included packages of a file.
	maxIncluded = 64
)

// readImports returns the paths of the use declarations of a file, in all modules and functions, and the full paths in
// the code. readImports blanks the declarations: an import of a name is not a use.
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

// servicesIncluded returns the full names of the services whose servers a file imports from included generated code.
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
