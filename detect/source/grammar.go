package source

import "bytes"

// Grammar is the comments and strings of a language: at each place, the first matching lexeme wins.
type Grammar []Lexeme

// Lexeme is a form of comment or of string.
type Lexeme struct {
	// Open is the beginning of the lexeme.
	Open string
	// Comment distinguishes a comment from a string.
	Comment bool
	// Starts reports whether Open, at an offset, begins a lexeme: a quote may also end a number or begin a lifetime.
	// nil stands for always.
	Starts func(text []byte, at int) bool
	// End takes the offset after Open, and returns the end of the lexeme's contents and the offset of the next code.
	End func(text []byte, from int) (inner, after int)
}

// Read tells code, comments and strings of a text apart, in one pass. A lexeme without an end goes to the end of the
// text.
func (g Grammar) Read(text []byte) *Text {
	t := &Text{Raw: bytes.Clone(text), Code: bytes.Clone(text), lines: lineStarts(text)}
	var opens [256]bool
	for _, l := range g {
		opens[l.Open[0]] = true
	}
	for at := 0; at < len(text); {
		if !opens[text[at]] {
			at++
			continue
		}
		at = g.blank(t, at)
	}
	joinLines(t.Code)
	t.logical = lineStarts(t.Code)
	return t
}

// blank blanks the lexeme at an offset, if any, and returns the offset of the next code.
func (g Grammar) blank(t *Text, at int) int {
	for _, l := range g {
		if !bytes.HasPrefix(t.Raw[at:], []byte(l.Open)) || l.Starts != nil && !l.Starts(t.Raw, at) {
			continue
		}
		inner, after := l.End(t.Raw, at+len(l.Open))
		if l.Comment {
			Blank(t.Code[at:after])
			Blank(t.Raw[at:after])
		} else {
			Blank(t.Code[at+len(l.Open) : inner])
		}
		return max(after, at+1)
	}
	return at + 1
}

// LineComment is a comment to the end of the line.
func LineComment(open string) Lexeme {
	return Lexeme{Open: open, Comment: true, End: func(text []byte, from int) (int, int) {
		if n := bytes.IndexByte(text[from:], '\n'); n >= 0 {
			return from + n, from + n
		}
		return len(text), len(text)
	}}
}

// BlockComment is a comment between two marks. nested is for languages with comments in comments.
func BlockComment(open, closing string, nested bool) Lexeme {
	return Lexeme{Open: open, Comment: true, End: func(text []byte, from int) (int, int) {
		for depth := 1; from < len(text); {
			switch rest := text[from:]; {
			case bytes.HasPrefix(rest, []byte(closing)):
				from += len(closing)
				if depth--; depth == 0 {
					return from, from
				}
			case nested && bytes.HasPrefix(rest, []byte(open)):
				depth++
				from += len(open)
			default:
				from++
			}
		}
		return from, from
	}}
}

// Quoting is the form of a string after the opening quote.
type Quoting struct {
	Raw       bool   // a backslash is a backslash
	Multiline bool   // the string may hold line breaks; otherwise the string ends with the line
	Doubled   bool   // a doubled closing quote stands for a quote
	Embeds    string // begins code within the string, to the matching brace or parenthesis: "${", "#{", `\(`
}

// String is a string between quotes.
func String(open, closing string, q Quoting) Lexeme {
	return Lexeme{Open: open, End: func(text []byte, from int) (int, int) { return q.End(text, from, closing) }}
}

// End returns the end of the contents of a string that begins at the offset from, and the offset of the next code.
func (q Quoting) End(text []byte, from int, closing string) (inner, after int) {
	for from < len(text) {
		switch rest := text[from:]; {
		case q.Embeds != "" && bytes.HasPrefix(rest, []byte(q.Embeds)):
			from = EmbeddedEnd(text, from+len(q.Embeds))
		case !q.Raw && rest[0] == '\\':
			from = min(from+2, len(text))
		case q.Doubled && bytes.HasPrefix(rest, []byte(closing+closing)):
			from += 2 * len(closing)
		case bytes.HasPrefix(rest, []byte(closing)):
			return from, from + len(closing)
		case rest[0] == '\n' && !q.Multiline:
			return from, from
		default:
			from++
		}
	}
	return from, from
}

// EmbeddedEnd returns the end of the code in a string that begins at an offset: after the closing bracket. Quotes in
// the code are skipped in pairs, with any contents: real code in strings is short.
func EmbeddedEnd(text []byte, from int) int {
	depth, quote := 1, byte(0)
	for ; from < len(text); from++ {
		switch c := text[from]; {
		case c == '\\':
			from++
		case quote != 0:
			if c == quote || c == '\n' {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '{' || c == '(':
			depth++
		case c == '}' || c == ')':
			if depth--; depth == 0 {
				return from + 1
			}
		}
	}
	return len(text)
}

func lineStarts(text []byte) []int {
	starts := []int{0}
	for i, c := range text {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}
