package source

import "github.com/grpc-cnb/health-probe/internal/lazyregexp"

// directive begins a line that chooses the code to compile, for a preprocessor or for a compiler with such lines.
var directive = lazyregexp.New(`(?m)^[ \t]*#[ \t]*(if|else|elif|endif)`)

// maxCondition is how many bytes of a line are read for a condition.
const maxCondition = 64

// Uncompiled is code that no image compiles, as a comment: from an #if with a condition that matches a pattern, to the
// matching #else, #elif or #endif.
func Uncompiled(condition string) Lexeme {
	starts := lazyregexp.New(`^#[ \t]*if[ \t]+(?:` + condition + `)[ \t]*(?:[\r\n/]|$)`)
	return Lexeme{Open: "#", Comment: true, End: directiveEnd, Starts: func(text []byte, at int) bool {
		return starts.Match(text[at:min(len(text), at+maxCondition)])
	}}
}

// directiveEnd returns the offset of the #endif, #else or #elif that ends an #if.
func directiveEnd(text []byte, from int) (inner, after int) {
	for depth := 1; ; {
		m := directive.FindSubmatchIndex(text[from:])
		if m == nil {
			return len(text), len(text)
		}
		switch string(text[from+m[2] : from+m[3]]) {
		case "if":
			depth++
		case "endif":
			depth--
		}
		if word := text[from+m[2]]; depth == 0 || depth == 1 && word == 'e' && text[from+m[2]+1] == 'l' {
			return from + m[0], from + m[0]
		}
		from += m[1]
	}
}
