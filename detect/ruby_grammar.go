package detect

import (
	"bytes"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// rubyGrammar tells Ruby's strings from what looks like them by what stands before, as a reader does: a slash after a
// value divides, and a per cent sign after one is the rest of a division. It is made for one text, whose heredocs it knows.
func rubyGrammar(text []byte) grammar {
	known := heredocsOf(text)
	return append(rubyLexemes, lexeme{open: "\n", end: known.end,
		starts: func(text []byte, at int) bool { return len(heredocs(text, at)) > 0 }})
}

var rubyLexemes = slices.Clip(grammar{
	{open: "=begin", comment: true, starts: rubyAtLineStart, end: rubyUntilLine("=end")},
	{open: "__END__", comment: true, starts: rubyAlone, end: func(text []byte, _ int) (int, int) { return len(text), len(text) }},
	toLineEnd("#"),
	{open: "?", starts: rubyCharacter, end: func(_ []byte, from int) (int, int) { return from + 1, from + 1 }},
	rubyString(`"`, quoting{multiline: true, embeds: "#{"}),
	rubyString(`'`, quoting{multiline: true}),
	rubyString("`", quoting{multiline: true, embeds: "#{"}),
	{open: "%", starts: rubyPercent, end: rubyPercentEnd},
	{open: "/", starts: rubyOpens, end: func(text []byte, from int) (int, int) { return quoting{embeds: "#{"}.end(text, from, "/") }},
})

// rubyString is a quoted string; $", $' and $` are variables.
func rubyString(quote string, q quoting) lexeme {
	l := quoted(quote, quote, q)
	l.starts = func(text []byte, at int) bool { return at == 0 || text[at-1] != '$' }
	return l
}

func rubyAtLineStart(text []byte, at int) bool { return at == 0 || text[at-1] == '\n' }

// rubyAlone: the line is nothing else.
func rubyAlone(text []byte, at int) bool {
	line, _, _ := bytes.Cut(text[at:], []byte("\n"))
	return rubyAtLineStart(text, at) && string(bytes.TrimRight(line, "\r")) == "__END__"
}

// rubyUntilLine ends at a line that begins with a mark.
func rubyUntilLine(mark string) func([]byte, int) (int, int) {
	return func(text []byte, from int) (int, int) {
		n := bytes.Index(text[from:], []byte("\n"+mark))
		if n < 0 {
			return len(text), len(text)
		}
		return from + n + 1 + len(mark), from + n + 1 + len(mark)
	}
}

// rubyOpens reports whether an operand may begin at an offset: after an operator, an opening bracket, a keyword, or at
// the beginning of a line.
func rubyOpens(text []byte, at int) bool {
	before := bytes.TrimRight(text[max(0, at-32):at], " \t")
	if len(before) == 0 || strings.IndexByte("\n(,=:[!&|{};~<>+-*?", before[len(before)-1]) >= 0 {
		return true
	}
	word := before[bytes.LastIndexFunc(before, func(r rune) bool { return r < 'a' || r > 'z' })+1:]
	return slices.Contains([]string{"if", "unless", "when", "and", "or", "not", "return", "while", "until", "in", "then"}, string(word))
}

// rubyCharacter: ?" and its kin are characters where they stand alone.
func rubyCharacter(text []byte, at int) bool {
	if at+1 >= len(text) || strings.IndexByte("\"'`#/%", text[at+1]) < 0 || !rubyOpens(text, at) {
		return false
	}
	return at+2 >= len(text) || strings.IndexByte(" \t\r\n,.)]}", text[at+2]) >= 0
}

var rubyPercentOpen = regexp.MustCompile(`^%(?:[qQwWiIrsx][^\w\s]|[({\[<|!])`)

// rubyPercent: %w[...] after a value too, as in "puts %w[a b]"; without a letter only where an operand may begin.
func rubyPercent(text []byte, at int) bool {
	m := rubyPercentOpen.Find(text[at:min(len(text), at+3)])
	if m == nil {
		return false
	}
	return rubyOpens(text, at) || len(m) == 3 && (text[at-1] == ' ' || text[at-1] == '\t')
}

// rubyPercentEnd leaves nothing of the string: its brackets are no code's.
func rubyPercentEnd(text []byte, from int) (int, int) {
	if c := text[from]; c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
		from++
	}
	open, closing := text[from], text[from]
	if i := strings.IndexByte("([{<", open); i >= 0 {
		closing = ")]}>"[i]
	}
	depth := 1
	for from++; from < len(text); from++ {
		switch c := text[from]; {
		case c == '\\':
			from++
		case c == closing:
			if depth--; depth == 0 {
				return from + 1, from + 1
			}
		case c == open:
			depth++
		}
	}
	return len(text), len(text)
}

var (
	heredocOpen = regexp.MustCompile("(?:^|[^\\w)\\]])<<(?:[~-][\"'`]?([A-Za-z_]\\w*)|[\"'`]?([A-Z][A-Z_0-9]+)\\b)")
	heredocLine = regexp.MustCompile(`(?m)^[ \t]*([A-Za-z_]\w*)\r?$`)
)

// heredocs returns the marks of the heredocs that are opened in the line that ends at an offset.
func heredocs(text []byte, at int) []string {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	if !bytes.Contains(line, []byte("<<")) || len(line) > maxText {
		return nil
	}
	var marks []string
	for _, m := range heredocOpen.FindAllSubmatch(line, -1) {
		marks = append(marks, string(m[1])+string(m[2]))
	}
	return marks
}

// heredocLines are where the lines that may close a heredoc begin and end, by what they hold.
type heredocLines map[string][][2]int

func heredocsOf(text []byte) heredocLines {
	lines := heredocLines{}
	if bytes.Contains(text, []byte("<<")) {
		for _, m := range heredocLine.FindAllSubmatchIndex(text, -1) {
			mark := string(text[m[2]:m[3]])
			lines[mark] = append(lines[mark], [2]int{m[0], m[1]})
		}
	}
	return lines
}

// end takes the offset after the line that opens heredocs. A mark that no line is equal to opened none.
func (l heredocLines) end(text []byte, from int) (inner, after int) {
	inner, after = from, from
	for _, mark := range heredocs(text, from-1) {
		closing := l[mark]
		i := sort.Search(len(closing), func(i int) bool { return closing[i][0] >= after })
		if i < len(closing) {
			inner, after = closing[i][0], closing[i][1]
		}
	}
	return inner, after
}
