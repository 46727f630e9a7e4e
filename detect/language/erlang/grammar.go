package erlang

import (
	"bytes"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// grammar is how Erlang writes comments, strings and quoted atoms (the Erlang Reference Manual, Data Types; strings in
// three quotes are from OTP 27 on).
var grammar = source.Grammar{
	unlessCharacter(source.LineComment("%")),
	unlessCharacter(source.String(`"""`, `"""`, source.Quoting{Multiline: true, Raw: true})),
	unlessCharacter(source.String(`"`, `"`, source.Quoting{Multiline: true})),
	unlessCharacter(source.String(`'`, `'`, source.Quoting{})),
}

// unlessCharacter returns a lexeme that does not begin if its first byte belongs to a character: a dollar sign makes
// a character of what follows it ($", $\", $%).
func unlessCharacter(l source.Lexeme) source.Lexeme {
	l.Starts = func(text []byte, at int) bool {
		return !bytes.HasSuffix(bytes.TrimSuffix(text[:at], []byte(`\`)), []byte("$"))
	}
	return l
}
