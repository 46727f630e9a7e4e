package source

import (
	"strings"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// maxBack is how many bytes before an offset are searched for the beginning of its statement.
const maxBack = 8 << 10

// Statement returns where the statement begins that goes on at an offset. ends are the bytes that end one beside
// braces.
func (t *Text) Statement(at int, ends string) int {
	from, _ := t.Around(at, at-maxBack, ends)
	return from
}

// Around returns where the statement begins that goes on at an offset, and the bracket that opens around it, or -1 if
// none does before the last byte that is looked at.
func (t *Text) Around(end, last int, ends string) (from, open int) {
	depth, from := 0, -1
	for at := end - 1; at >= max(last, 0); at-- {
		switch c := t.Code[at]; {
		case c == ')' || c == ']' || c == '}':
			if from < 0 && depth == 0 && c == '}' && !goesOn.Match(t.Code[at+1:end]) {
				from = at + 1
			}
			depth++
		case c != '(' && c != '[' && c != '{':
			if from < 0 && depth == 0 && t.ends(at, end, ends) {
				from = at + 1
			}
		case depth > 0:
			depth--
		default:
			if from < 0 {
				from = at + 1
			}
			return from, at
		}
	}
	return max(from, last, 0), -1
}

// ends reports whether the byte at an offset ends a statement.
func (t *Text) ends(at, end int, ends string) bool {
	c := t.Code[at]
	if strings.IndexByte(ends, c) < 0 {
		return false
	}
	return c != '\n' || !goesOn.Match(t.Code[at+1:end]) && !goesOnBehind.Match(t.Code[max(0, at-maxLine):at])
}

// maxLine is how many bytes of a line are looked at for what goes on after it.
const maxLine = 200

var (
	// goesOn begins what belongs to the code before it, and goesOnBehind ends what the next line belongs to.
	goesOn       = lazyregexp.New(`^\s*(?:[.?:,)=&|+]|else\b|$)`)
	goesOnBehind = lazyregexp.New(`(?:[=,.(?:&|+]|\b(?:else|return|then)|` +
		`\bif[ \t]*\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\))[ \t\r]*$`)
)
