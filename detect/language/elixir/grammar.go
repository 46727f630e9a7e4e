package elixir

import (
	"bytes"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// grammar is how Elixir writes comments and strings (its Syntax reference).
var grammar = source.Grammar{
	unlessCharacter(source.LineComment("#")),
	{Open: "~", Starts: startsSigil, End: sigilEnd},
	unlessCharacter(source.String(`"""`, `"""`, quoting)),
	unlessCharacter(source.String(`'''`, `'''`, quoting)),
	unlessCharacter(source.String(`"`, `"`, quoting)),
	unlessCharacter(source.String(`'`, `'`, quoting)),
}

var quoting = source.Quoting{Multiline: true, Embeds: "#{"}

// unlessCharacter returns a lexeme that does not begin if its first byte belongs to a character literal: a question
// mark makes a character of what follows it (?", ?\"). A question mark that ends a name (valid?) does not.
func unlessCharacter(l source.Lexeme) source.Lexeme {
	l.Starts = func(text []byte, at int) bool {
		before := bytes.TrimSuffix(text[:at], []byte(`\`))
		isCharacter := bytes.HasSuffix(before, []byte("?"))
		return !isCharacter || len(before) > 1 && source.IsWordByte(before[len(before)-2])
	}
	return l
}

// closingDelimiters are the delimiters that may open a sigil, each with the one that closes it.
var closingDelimiters = map[byte]string{
	'(': ")", '[': "]", '{': "}", '<': ">", '/': "/", '|': "|", '"': `"`, '\'': "'",
}

// sigilNameLen returns how many bytes the name of a sigil has, which stands between its ~ and its delimiter: one small
// letter, or capital letters and digits. It is 0 if there is no name.
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

// sigilEnd is the End of a sigil, such as ~s(...) or ~S"""...""". In a sigil whose name is in capital letters, a
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
