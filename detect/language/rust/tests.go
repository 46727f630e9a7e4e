package rust

import (
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// testAttribute is #[test] and its like, or #[cfg(...)] with any condition. With an exclamation mark, as in
	// #![cfg(test)], it applies to the whole file.
	testAttribute = lazyregexp.New(`#(!?)\[\s*(?:cfg\(([^\]]*)\)|(?:\w+::)*test\b[^\]]*)\s*\]`)
	// moduleFile is the declaration of a module in a separate file, after further attributes.
	moduleFile = lazyregexp.New(`^(?:\s*#\[[^\]]*\])*\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;`)
	// forTests is a condition that holds for tests only. Features with helpers for the tests of a crate or of
	// the crate's users count as tests.
	forTests = lazyregexp.New(`\btest\b|` +
		`\bfeature\s*=\s*"(?:[\w-]+[-_])?(?:tests?|testing|mocks?)(?:[-_][\w-]+)?"`)
	notForTests = lazyregexp.New(`\bnot\s*\(\s*(?:test|feature)\b`)
)

// blankTests blanks the items compiled for tests only, and returns the paths, without ".rs", of the blanked modules in
// separate files; the path of the file itself if the whole file is for tests.
func blankTests(file string, t *source.Text) (modules []string) {
	end := 0
	for _, m := range t.FindAll(testAttribute, -1) {
		if m[0] < end || m[4] >= 0 && !isForTests(t.Raw[m[4]:m[5]]) {
			continue
		}
		if m[2] != m[3] {
			source.Blank(t.Code)
			return []string{strings.TrimSuffix(file, ".rs")}
		}
		end = itemEnd(t.Code, m[1])
		// The search is bounded by the item: a hostile file may have a million attributes.
		if name := moduleFile.FindSubmatch(t.Code[m[1]:end]); name != nil {
			modules = append(modules, path.Join(moduleDir(file), string(name[1])))
		}
		source.Blank(t.Code[m[1]:end])
	}
	return modules
}

func isForTests(condition []byte) bool {
	return forTests.Match(condition) && !notForTests.Match(condition)
}

// moduleDir returns the directory of a file's modules: the file's own, or the directory of the file's name (The
// Rust Reference, Module Source Filenames).
func moduleDir(file string) string {
	dir, name := path.Split(strings.TrimSuffix(file, ".rs"))
	if name == "main" || name == "lib" || name == "mod" {
		return dir
	}
	return dir + name
}

// itemEnd returns the end of the item at an offset: after the semicolon or the block.
func itemEnd(code []byte, from int) int {
	depth := 0
	for at := from; at < len(code); at++ {
		switch c := code[at]; c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return at
			}
			if depth == 0 && c == '}' {
				return at + 1
			}
		case ';':
			if depth == 0 {
				return at + 1
			}
		}
	}
	return len(code)
}
