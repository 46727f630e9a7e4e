package elixir

import (
	"bytes"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// grammar is the syntax of comments and strings in Elixir (Elixir's Syntax reference).
var grammar = source.Grammar{
	unlessCharacter(source.LineComment("#")),
	{Open: "~", Starts: startsSigil, End: sigilEnd},
	unlessCharacter(source.String(`"""`, `"""`, quoting)),
	unlessCharacter(source.String(`'''`, `'''`, quoting)),
	unlessCharacter(source.String(`"`, `"`, quoting)),
	unlessCharacter(source.String(`'`, `'`, quoting)),
}

var quoting = source.Quoting{Multiline: true, Embeds: "#{"}

// unlessCharacter returns a lexeme that does not begin in a character literal, behind a question mark (?", ?\"). A
// question mark at the end of a name (valid?) begins no literal.
func unlessCharacter(l source.Lexeme) source.Lexeme {
	l.Starts = func(text []byte, at int) bool {
		before := bytes.TrimSuffix(text[:at], []byte(`\`))
		isCharacter := bytes.HasSuffix(before, []byte("?"))
		return !isCharacter || len(before) > 1 && source.IsWordByte(before[len(before)-2])
	}
	return l
}

// closingDelimiters maps the opening delimiters of sigils to closing delimiters.
var closingDelimiters = map[byte]string{
	'(': ")", '[': "]", '{': "}", '<': ">", '/': "/", '|': "|", '"': `"`, '\'': "'",
}

// sigilNameLen returns the length in bytes of a sigil's name, between ~ and the delimiter: one small letter, or capital
// letters and digits. The length is 0 without a name.
func sigilNameLen(text []byte) int {
	n := 0
	for n < len(text) && (text[n] >= 'A' && text[n] <= 'Z' || n > 0 && text[n] >= '0' && text[n] <= '9') {
		n++
	}
	if n == 0 && len(text) > 0 && text[0] >= 'a' && text[0] <= 'z' {
		n = 1
	}
	return n
}

func startsSigil(text []byte, at int) bool {
	n := sigilNameLen(text[at+1:])
	return n > 0 && at+1+n < len(text) && closingDelimiters[text[at+1+n]] != ""
}

// sigilEnd is the End of a sigil, such as ~s(...) or ~S"""...""". In a sigil with a name in capital letters, a
// backslash is a backslash and no code is embedded.
func sigilEnd(text []byte, from int) (inner, after int) {
	n := sigilNameLen(text[from:])
	q := source.Quoting{Multiline: true, Raw: text[from] <= 'Z'}
	if !q.Raw {
		q.Embeds = "#{"
	}
	open := text[from+n]
	closing := closingDelimiters[open]
	heredoc := strings.Repeat(string(open), 3)
	if (open == '"' || open == '\'') && bytes.HasPrefix(text[from+n:], []byte(heredoc)) {
		return q.End(text, from+n+3, heredoc)
	}
	return q.End(text, from+n+1, closing)
}
