package detect

import (
	"bytes"
	"path"
	"sort"
	"unicode/utf8"
)

// source is the text of a file in which code, comments and what strings hold are told apart.
type source struct {
	text []byte // as it stands
	// code is as long as text and has its line breaks. Comments are blanked whole; of a string, what lies between its
	// delimiters is. So an offset in one is the same place in the other, and a pattern over code never meets a word that
	// is only talked of.
	code  []byte
	lines []int // where each line begins

	followed int // bytes that were followed after opening brackets
}

// grammar is how a language writes comments and strings: the lexemes to look for, the first that fits at a place wins.
type grammar []lexeme

// lexeme is one form of comment or of string.
type lexeme struct {
	open    string
	comment bool
	// starts says whether open, at this offset, begins a lexeme here: a quote may end a number or begin a lifetime. nil
	// for always.
	starts func(text []byte, at int) bool
	// end takes the offset after open. It returns where what the lexeme holds ends, and where code goes on.
	end func(text []byte, from int) (inner, after int)
}

// read tells code, comments and strings of a text apart, in one pass. A lexeme that is never closed ends with the text.
func (g grammar) read(text []byte) *source {
	s := &source{text: text, code: bytes.Clone(text), lines: []int{0}}
	var opens [256]bool
	for _, l := range g {
		opens[l.open[0]] = true
	}
	for at := 0; at < len(text); {
		if !opens[text[at]] {
			at++
			continue
		}
		at = g.pass(s, at)
	}
	for i, c := range text {
		if c == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// pass blanks the lexeme that begins at an offset, if one does, and returns where code goes on.
func (g grammar) pass(s *source, at int) int {
	for _, l := range g {
		if !bytes.HasPrefix(s.text[at:], []byte(l.open)) || l.starts != nil && !l.starts(s.text, at) {
			continue
		}
		inner, after := l.end(s.text, at+len(l.open))
		if l.comment {
			blank(s.code[at:after])
		} else {
			blank(s.code[at+len(l.open) : inner])
		}
		return max(after, at+1)
	}
	return at + 1
}

func blank(code []byte) {
	for i, c := range code {
		if c != '\n' {
			code[i] = ' '
		}
	}
}

// lookAtSources is look for languages whose projects begin at a file of this name, and whose other files read takes.
func lookAtSources(root string, read func(text []byte) *sheet) func(f *file) (*sheet, error) {
	return func(f *file) (*sheet, error) {
		if path.Base(f.path) == root {
			return &sheet{root: true}, nil
		}
		text, err := f.text()
		if err != nil {
			return nil, err
		}
		return read(text), nil
	}
}

// line returns the number, from 1, of the line that an offset is in.
func (s *source) line(offset int) int {
	return sort.SearchInts(s.lines, offset+1)
}

// toLineEnd is a comment to the end of its line.
func toLineEnd(open string) lexeme {
	return lexeme{open: open, comment: true, end: func(text []byte, from int) (int, int) {
		if n := bytes.IndexByte(text[from:], '\n'); n >= 0 {
			return from + n, from + n
		}
		return len(text), len(text)
	}}
}

// between is a comment between two marks; nested, where comments may stand in comments.
func between(open, closing string, nested bool) lexeme {
	return lexeme{open: open, comment: true, end: func(text []byte, from int) (int, int) {
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

// quoting is how a form of string goes on after its opening quote.
type quoting struct {
	raw       bool   // a backslash is a backslash
	multiline bool   // it may hold line breaks; one that may not ends with its line
	doubled   bool   // the closing quote twice stands for itself
	embeds    string // what begins code within the string, to the matching brace or parenthesis: "${", "#{", `\(`
}

// quoted is a string between quotes.
func quoted(open, closing string, q quoting) lexeme {
	return lexeme{open: open, end: func(text []byte, from int) (int, int) { return q.end(text, from, closing) }}
}

func (q quoting) end(text []byte, from int, closing string) (inner, after int) {
	for from < len(text) {
		switch rest := text[from:]; {
		case q.embeds != "" && bytes.HasPrefix(rest, []byte(q.embeds)):
			from = embedded(text, from+len(q.embeds))
		case !q.raw && rest[0] == '\\':
			from = min(from+2, len(text))
		case q.doubled && bytes.HasPrefix(rest, []byte(closing+closing)):
			from += 2 * len(closing)
		case bytes.HasPrefix(rest, []byte(closing)):
			return from, from + len(closing)
		case rest[0] == '\n' && !q.multiline:
			return from, from
		default:
			from++
		}
	}
	return from, from
}

// embedded returns where the code in a string ends: after the bracket that closes it. Quotes in it are passed over in
// pairs, without a thought to what they hold: real code in strings is short.
func embedded(text []byte, from int) int {
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

// wordByte reports a byte of a name. Letters of other alphabets are.
func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= utf8.RuneSelf
}
