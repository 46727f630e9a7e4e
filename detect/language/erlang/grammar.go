package erlang

import (
	"bytes"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// grammar is the syntax of comments, strings and quoted atoms in Erlang (the Erlang Reference Manual, Data Types; OTP
// 27 and newer have strings in three quote marks).
var grammar = source.Grammar{
	unlessCharacter(source.LineComment("%")),
	unlessCharacter(source.String(`"""`, `"""`, source.Quoting{Multiline: true, Raw: true})),
	unlessCharacter(source.String(`"`, `"`, source.Quoting{Multiline: true})),
	unlessCharacter(source.String(`'`, `'`, source.Quoting{})),
}

// unlessCharacter returns a lexeme that does not begin in a character literal, behind a dollar sign ($", $\", $%).
func unlessCharacter(l source.Lexeme) source.Lexeme {
	l.Starts = func(text []byte, at int) bool {
		return !bytes.HasSuffix(bytes.TrimSuffix(text[:at], []byte(`\`)), []byte("$"))
	}
	return l
}
