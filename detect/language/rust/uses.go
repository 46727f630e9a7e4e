package rust

import (
	"maps"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	useDeclaration = lazyregexp.New(`\b(?:use|extern\s+crate)\s+([^;]+);`)
	// useTree is a part of one: what stands before a brace, a name with its path and its alias, or a closing brace.
	useTree = lazyregexp.New(`((?:\s*::)?(?:\s*\w+\s*::)*)\s*(?:\{|(\w+|\*)(?:\s+as\s+(\w+))?)|\}`)
)

// uses are the names that the use declarations of a file bring into it.
type uses struct {
	paths map[string]string // whole paths, by the names that the file uses
	globs []string          // what stands before the star of a glob import: "tonic::"
}

const (
	// maxGlobs is how many glob imports of a file are followed. Each one is a possible origin of every name.
	maxGlobs = 16
	// maxUseDepth is how many braces of a use declaration may lie in each other.
	maxUseDepth = 8
	// maxAliases is how many use declarations are followed from one to the next.
	maxAliases = 4
)

// readUses reads the use declarations of a file, those of all its modules and functions together, and blanks them: to
// import a name is not to use it.
func readUses(t *source.Text) *uses {
	u := &uses{paths: map[string]string{}}
	for _, m := range t.FindAll(useDeclaration, -1) {
		u.add(string(t.Code[m[2]:m[3]]))
		source.Blank(t.Code[m[0]:m[1]])
	}
	return u
}

// add adds a use declaration: a::b, a::{b, c as d} or a::*. What stands in braces has the path before them.
func (u *uses) add(declaration string) {
	prefixes := []string{""}
	for _, m := range useTree.FindAllStringSubmatch(declaration, -1) {
		prefix := prefixes[len(prefixes)-1]
		switch path := prefix + strings.Join(strings.Fields(m[1]+m[2]), ""); {
		case strings.HasSuffix(m[0], "{"):
			if prefixes = append(prefixes, path); len(prefixes) > maxUseDepth {
				return
			}
		case m[0] == "}":
			prefixes = prefixes[:max(len(prefixes)-1, 1)]
		case strings.HasSuffix(path, "*"):
			if len(u.globs) < maxGlobs {
				u.globs = append(u.globs, strings.TrimSuffix(path, "*"))
			}
		default:
			path = strings.TrimSuffix(strings.TrimPrefix(path, "::"), "::self")
			name := path[strings.LastIndexByte(path, ':')+1:]
			if m[3] != "" {
				name = m[3]
			}
			u.paths[name] = path
		}
	}
}

// has reports whether a pattern matches a path that the file imports.
func (u *uses) has(pattern *lazyregexp.Regexp) bool {
	return slices.ContainsFunc(u.globs, pattern.MatchString) ||
		slices.ContainsFunc(slices.Collect(maps.Values(u.paths)), pattern.MatchString)
}

// candidates returns the whole paths that a path in the file may stand for: what the use declarations say or, if
// they say nothing, the path itself and what each glob import could make of it.
func (u *uses) candidates(path string) []string {
	whole, known := u.resolve(path)
	all := []string{whole}
	if !known {
		for _, glob := range u.globs {
			all = append(all, glob+path)
		}
	}
	return all
}

// resolve returns the whole path of a path in the file, and whether a use declaration names it. One use declaration may
// lead to another: use grpcio as grpc; use grpc::Server.
func (u *uses) resolve(path string) (whole string, known bool) {
	whole = strings.TrimPrefix(path, "::")
	for range maxAliases {
		first, rest, deeper := strings.Cut(whole, "::")
		full, ok := u.paths[first]
		if !ok || full == first {
			return whole, known || ok
		}
		whole, known = full, true
		if deeper {
			whole += "::" + rest
		}
	}
	return whole, known
}
