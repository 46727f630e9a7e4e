package rust

import (
	"maps"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var useDeclaration = lazyregexp.New(`\b(?:use|extern\s+crate)\s+([^;]+);`)

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
		u.add("", string(t.Code[m[2]:m[3]]), 0)
		source.Blank(t.Code[m[0]:m[1]])
	}
	return u
}

// add adds one tree of a use declaration: a::b, a::{b, c as d} or a::*. A tree within another tree has the other's
// prefix.
func (u *uses) add(prefix, tree string, depth int) {
	tree = strings.TrimSpace(tree)
	if open := strings.IndexByte(tree, '{'); open >= 0 && depth < maxUseDepth {
		for _, part := range splitTrees(strings.TrimSuffix(tree[open+1:], "}")) {
			u.add(prefix+strings.TrimSpace(tree[:open]), part, depth+1)
		}
		return
	}
	path, alias, renamed := strings.Cut(tree, " as ")
	path = prefix + strings.TrimSuffix(strings.TrimSpace(path), "::self")
	path = strings.TrimSuffix(strings.TrimPrefix(path, "::"), "::self")
	name := path[strings.LastIndexByte(path, ':')+1:]
	if renamed {
		name = strings.TrimSpace(alias)
	}
	if name != "*" {
		u.paths[name] = path
	} else if len(u.globs) < maxGlobs {
		u.globs = append(u.globs, strings.TrimSuffix(path, "*"))
	}
}

// splitTrees splits a list of use trees at the commas that stand in no braces.
func splitTrees(list string) []string {
	var trees []string
	depth, from := 0, 0
	for i, c := range []byte(list) {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		case ',':
			if depth == 0 {
				trees, from = append(trees, list[from:i]), i+1
			}
		}
	}
	return append(trees, list[from:])
}

// hasCrate reports whether the file imports anything of a crate.
func (u *uses) hasCrate(crate string) bool {
	for _, path := range slices.AppendSeq(slices.Clone(u.globs), maps.Values(u.paths)) {
		if path == crate || strings.HasPrefix(path, crate+"::") {
			return true
		}
	}
	return false
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
