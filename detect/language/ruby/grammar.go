package ruby

import (
	"bytes"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// grammarOf returns the syntax of comments and strings in a text. The characters of Ruby's strings are operators too,
// so the code before such a character decides: after an operand, a slash or a percent sign divides. The grammar is for
// a single text, because it knows the ends of the text's heredocs.
func grammarOf(text []byte) source.Grammar {
	terminators := findTerminators(text)
	opensHeredoc := func(text []byte, at int) bool { return len(heredocsInLine(text, at)) > 0 }
	return append(lexemes, source.Lexeme{Open: "\n", Starts: opensHeredoc, End: terminators.end})
}

var lexemes = slices.Clip(source.Grammar{
	{Open: "=begin", Comment: true, Starts: startsLine, End: blockCommentEnd},
	{Open: "__END__", Comment: true, Starts: isDataMark, End: textEnd},
	source.LineComment("#"),
	{Open: "?", Starts: startsCharacter, End: characterEnd},
	quoted(`"`, source.Quoting{Multiline: true, Embeds: "#{"}),
	quoted(`'`, source.Quoting{Multiline: true}),
	quoted("`", source.Quoting{Multiline: true, Embeds: "#{"}),
	{Open: "%", Starts: startsPercent, End: percentEnd},
	{Open: "/", Starts: startsOperand, End: regexpEnd},
})

// quoted is a string between quote marks. Behind a dollar sign a quote mark is the name of a variable: $", $', $`.
func quoted(quote string, q source.Quoting) source.Lexeme {
	l := source.String(quote, quote, q)
	l.Starts = func(text []byte, at int) bool { return at == 0 || text[at-1] != '$' }
	return l
}

func startsLine(text []byte, at int) bool { return at == 0 || text[at-1] == '\n' }

// blockCommentEnd is the End of the comment from =begin to =end, each at the start of a line.
func blockCommentEnd(text []byte, from int) (inner, after int) {
	const end = "\n=end"
	n := bytes.Index(text[from:], []byte(end))
	if n < 0 {
		return textEnd(text, from)
	}
	return from + n + len(end), from + n + len(end)
}

// isDataMark reports whether __END__ is a whole line. The rest of the file is no code.
func isDataMark(text []byte, at int) bool {
	line, _, _ := bytes.Cut(text[at:], []byte("\n"))
	return startsLine(text, at) && string(bytes.TrimRight(line, "\r")) == "__END__"
}

func textEnd(text []byte, _ int) (inner, after int) { return len(text), len(text) }

func regexpEnd(text []byte, from int) (inner, after int) {
	return source.Quoting{Embeds: "#{"}.End(text, from, "/")
}

// beforeOperand are the keywords before operands.
var beforeOperand = []string{"if", "unless", "when", "and", "or", "not", "return", "while", "until", "in", "then"}

// maxBefore is how many bytes before an operand are read: a keyword, and the white space after the keyword.
const maxBefore = 32

// startsOperand reports whether an operand may begin at an offset: at the beginning of a line, and after an operator,
// an opening bracket or a keyword.
func startsOperand(text []byte, at int) bool {
	before := bytes.TrimRight(text[max(0, at-maxBefore):at], " \t")
	if len(before) == 0 || strings.IndexByte("\n(,=:[!&|{};~<>+-*?", before[len(before)-1]) >= 0 {
		return true
	}
	word := before[bytes.LastIndexFunc(before, func(r rune) bool { return r < 'a' || r > 'z' })+1:]
	return slices.Contains(beforeOperand, string(word))
}

// startsCharacter reports whether a question mark begins a character literal that looks like the beginning of a string
// or a comment, such as ?" and ?#. A literal stands alone.
func startsCharacter(text []byte, at int) bool {
	if at+1 >= len(text) || strings.IndexByte("\"'`#/%", text[at+1]) < 0 || !startsOperand(text, at) {
		return false
	}
	return at+2 >= len(text) || strings.IndexByte(" \t\r\n,.)]}", text[at+2]) >= 0
}

func characterEnd(_ []byte, from int) (inner, after int) { return from + 1, from + 1 }

var percentOpen = lazyregexp.New(`^%(?:[qQwWiIrsx][^\w\s]|[({\[<|!])`)

// startsPercent reports whether a percent sign begins a percent literal. A literal with a letter may also follow a name
// and a space, as in "puts %w[a b]". A literal without a letter begins only in place of an operand.
func startsPercent(text []byte, at int) bool {
	m := percentOpen.Find(text[at:min(len(text), at+3)])
	if m == nil {
		return false
	}
	return startsOperand(text, at) || len(m) == 3 && (text[at-1] == ' ' || text[at-1] == '\t')
}

// percentEnd is the End of a percent literal. All but the percent sign is blanked, because the brackets are not
// brackets of code.
func percentEnd(text []byte, from int) (inner, after int) {
	if c := text[from]; c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
		from++
	}
	open, closing := text[from], text[from]
	if i := strings.IndexByte("([{<", open); i >= 0 {
		closing = ")]}>"[i]
	}
	depth := 1
	for from++; from < len(text); from++ {
		switch text[from] {
		case '\\':
			from++
		case closing:
			if depth--; depth == 0 {
				return from + 1, from + 1
			}
		case open:
			depth++
		}
	}
	return textEnd(text, from)
}
