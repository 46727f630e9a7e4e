package detect

import (
	"bytes"
	"strings"
)

// elixirGrammar is how Elixir writes comments and strings (its Syntax reference). `?"` is the character, not a string's
// beginning.
var elixirGrammar = grammar{
	elixirUnasked(toLineEnd("#")),
	{open: "~", starts: elixirIsSigil, end: elixirSigil},
	elixirUnasked(quoted(`"""`, `"""`, quoting{multiline: true, embeds: "#{"})),
	elixirUnasked(quoted(`'''`, `'''`, quoting{multiline: true, embeds: "#{"})),
	elixirUnasked(quoted(`"`, `"`, quoting{multiline: true, embeds: "#{"})),
	elixirUnasked(quoted(`'`, `'`, quoting{multiline: true, embeds: "#{"})),
}

// elixirUnasked is a lexeme that does not begin after a question mark that makes a character of what follows it (?", ?\").
// One that ends a name (valid?) does not.
func elixirUnasked(l lexeme) lexeme {
	l.starts = func(text []byte, at int) bool {
		before := bytes.TrimSuffix(text[:at], []byte(`\`))
		asked := bytes.HasSuffix(before, []byte("?"))
		return !asked || len(before) > 1 && wordByte(before[len(before)-2])
	}
	return l
}

// elixirSigilName is how long the letters between a sigil's ~ and its delimiter are: one small letter, or capitals and
// digits.
func elixirSigilName(text []byte) int {
	n := 0
	for n < len(text) && (text[n] >= 'A' && text[n] <= 'Z' || n > 0 && text[n] >= '0' && text[n] <= '9') {
		n++
	}
	if n == 0 && len(text) > 0 && text[0] >= 'a' && text[0] <= 'z' {
		n = 1
	}
	return n
}

var elixirDelimiters = map[byte]string{'(': ")", '[': "]", '{': "}", '<': ">", '/': "/", '|': "|", '"': `"`, '\'': "'"}

func elixirIsSigil(text []byte, at int) bool {
	n := elixirSigilName(text[at+1:])
	return n > 0 && at+1+n < len(text) && elixirDelimiters[text[at+1+n]] != ""
}

// elixirSigil ends a sigil: ~s(...), ~S"""...""". Capital letters make raw ones.
func elixirSigil(text []byte, from int) (inner, after int) {
	n := elixirSigilName(text[from:])
	q := quoting{multiline: true, raw: text[from] <= 'Z'}
	if !q.raw {
		q.embeds = "#{"
	}
	open := text[from+n]
	closing := elixirDelimiters[open]
	if long := strings.Repeat(string(open), 3); (open == '"' || open == '\'') && bytes.HasPrefix(text[from+n:], []byte(long)) {
		return q.end(text, from+n+3, long)
	}
	return q.end(text, from+n+1, closing)
}
