package source

import (
	"strings"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// maxBack is how many bytes before an offset are searched for the beginning of a statement.
const maxBack = 8 << 10

// Statement returns the beginning of the statement around an offset. ends are the bytes that end a statement, besides
// braces.
func (t *Text) Statement(at int, ends string) int {
	from, _ := t.Around(at, at-maxBack, ends)
	return from
}

// Around returns the beginning of the statement around the offset end, and the opening bracket around the statement.
// The search goes back to the offset last; open is -1 if no bracket is met.
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

// maxLine is how many bytes of a line are searched for a continuation on the next line.
const maxLine = 200

var (
	// goesOn begins a continuation of the code before. goesOnBehind ends code that the next line continues.
	goesOn       = lazyregexp.New(`^\s*(?:[.?:,)=&|+]|else\b|$)`)
	goesOnBehind = lazyregexp.New(`(?:[=,.(?:&|+]|\b(?:else|return|then)|` +
		`\bif[ \t]*\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\))[ \t\r]*$`)
)
