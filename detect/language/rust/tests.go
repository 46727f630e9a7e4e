package rust

import (
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// testAttribute is #[test] and its like, or #[cfg(...)] with any condition. With an exclamation mark, as in
	// #![cfg(test)], it applies to the whole file.
	testAttribute = lazyregexp.New(`#(!?)\[\s*(?:cfg\(([^\]]*)\)|(?:\w+::)*test\b[^\]]*)\s*\]`)
	// moduleFile is the declaration of a module that has a file of its own, after further attributes.
	moduleFile   = lazyregexp.New(`^(?:\s*#\[[^\]]*\])*\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;`)
	testCfg      = lazyregexp.New(`\btest\b`)
	negatedCfg   = lazyregexp.New(`\bnot\s*\(\s*(?:test|feature)\b`)
	testsFeature = lazyregexp.New(`\bfeature\s*=\s*"(?:[\w-]+[-_])?(?:tests?|testing|mocks?)(?:[-_][\w-]+)?"`)
)

// blankTests blanks the items that are compiled for tests only. It returns the names of the modules among them that
// have files of their own, and whether the whole file is compiled for tests only.
func blankTests(t *source.Text) (modules []string, all bool) {
	end := 0
	for _, m := range t.FindAll(testAttribute, -1) {
		if m[0] < end || m[4] >= 0 && !selectsTests(t, source.Span{From: m[4], To: m[5]}) {
			continue
		}
		if m[2] != m[3] {
			return nil, true
		}
		end = itemEnd(t.Code, m[1])
		// The search is bounded by the item: a hostile file may have a million attributes.
		if name := moduleFile.FindSubmatch(t.Code[m[1]:end]); name != nil {
			modules = append(modules, string(name[1]))
		}
		source.Blank(t.Code[m[1]:end])
	}
	return modules, false
}

// selectsTests reports whether the condition of a cfg attribute holds for tests only. Features by which a crate's own
// tests or those of its users get helpers count as tests.
func selectsTests(t *source.Text, condition source.Span) bool {
	code, raw := t.Code[condition.From:condition.To], t.Raw[condition.From:condition.To]
	return !negatedCfg.Match(code) && (testCfg.Match(code) || testsFeature.Match(raw))
}

// itemEnd returns where the item ends that begins at an offset: after its semicolon or its block.
func itemEnd(code []byte, from int) int {
	depth, braces := 0, 0
	for at := from; at < len(code); at++ {
		switch code[at] {
		case ';':
			if depth == 0 {
				return at + 1
			}
		case '(', '[':
			depth++
		case '{':
			depth++
			braces++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return at
			}
			if depth == 0 && code[at] == '}' && braces > 0 {
				return at + 1
			}
		}
	}
	return len(code)
}
