package detect

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

var rustUse = regexp.MustCompile(`\b(?:use|extern\s+crate)\s+([^;]+);`)

// rustNames are what `use` brings into a file.
type rustNames struct {
	paths map[string]string // by the name that they go by there
	globs []string          // what stands before the star: "tonic::"
}

// maxGlobs is how many glob imports of a file are thought of: each may be what a name comes from.
const maxGlobs = 16

// rustUses reads a file's use declarations, of all its modules and functions together, and blanks them: to import a name
// is not to use it.
func rustUses(s *source) *rustNames {
	names := &rustNames{paths: map[string]string{}}
	for _, m := range rustUse.FindAllSubmatchIndex(s.code, -1) {
		names.add("", string(s.code[m[2]:m[3]]), 0)
		blank(s.code[m[0]:m[1]])
	}
	return names
}

// add takes one tree of a use declaration: a::b, a::{b, c as d}, a::*. depth bounds trees within trees.
func (n *rustNames) add(prefix, tree string, depth int) {
	tree = strings.TrimSpace(tree)
	if open := strings.IndexByte(tree, '{'); open >= 0 && depth < 8 {
		for _, part := range rustParts(strings.TrimSuffix(tree[open+1:], "}")) {
			n.add(prefix+strings.TrimSpace(tree[:open]), part, depth+1)
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
		n.paths[name] = path
	} else if len(n.globs) < maxGlobs {
		n.globs = append(n.globs, strings.TrimSuffix(path, "*"))
	}
}

// anyOf reports whether something of a crate is imported.
func (n *rustNames) anyOf(crate string) bool {
	for _, path := range slices.AppendSeq(slices.Clone(n.globs), maps.Values(n.paths)) {
		if path == crate || strings.HasPrefix(path, crate+"::") {
			return true
		}
	}
	return false
}

// rustParts splits at the commas that are in no braces.
func rustParts(list string) []string {
	var parts []string
	depth, from := 0, 0
	for i, c := range []byte(list) {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		case ',':
			if depth == 0 {
				parts, from = append(parts, list[from:i]), i+1
			}
		}
	}
	return append(parts, list[from:])
}

// resolve returns the whole path of a path as it is used in the file. What use says may lead to what use says elsewhere
// (use grpcio as grpc; use grpc::Server).
func (n *rustNames) resolve(path string) (whole string, known bool) {
	whole = strings.TrimPrefix(path, "::")
	for range 4 {
		first, rest, deeper := strings.Cut(whole, "::")
		full, ok := n.paths[first]
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
