package source

import "github.com/grpc-cnb/health-probe/internal/lazyregexp"

// directive begins a line of a preprocessor, or of a compiler that has such lines, which chooses what is compiled.
var directive = lazyregexp.New(`(?m)^[ \t]*#[ \t]*(if|else|elif|endif)`)

// maxCondition is how many bytes of a line are read for its condition.
const maxCondition = 64

// Uncompiled is code that is compiled in no image, as a comment: from an #if with a condition, which a pattern takes,
// to the #else, #elif or #endif of it.
func Uncompiled(condition string) Lexeme {
	starts := lazyregexp.New(`^#[ \t]*if[ \t]+(?:` + condition + `)[ \t]*(?:[\r\n/]|$)`)
	return Lexeme{Open: "#", Comment: true, End: directiveEnd, Starts: func(text []byte, at int) bool {
		return starts.Match(text[at:min(len(text), at+maxCondition)])
	}}
}

// directiveEnd returns where the #endif, #else or #elif stands that ends an #if.
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
