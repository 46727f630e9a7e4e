package haskell

import (
	"bytes"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// grammar is the syntax of comments, strings and characters (Haskell 2010 Language Report, Lexical Structure), and of
// the texts of common quasi-quoters.
var grammar = source.Grammar{
	{Open: "--", Comment: true, Starts: startsLineComment, End: source.LineComment("--").End},
	source.BlockComment("{-", "-}", true),
	source.String(`"""`, `"""`, source.Quoting{Multiline: true}),
	source.String(`"`, `"`, source.Quoting{}),
	{Open: "'", Starts: startsCharacter, End: source.String("'", "'", source.Quoting{}).End},
	quasiQuote("r"), quasiQuote("i"), quasiQuote("s"), quasiQuote("raw"), quasiQuote("text"), quasiQuote("str"),
	quasiQuote("string"), quasiQuote("fmt"), quasiQuote("here"), quasiQuote("trimming"),
}

// symbols are the characters of operators.
const symbols = "!#$%&*+./<=>?@\\^|-~:"

// startsLineComment tells a comment from dashes in an operator (-->, |--).
func startsLineComment(text []byte, at int) bool {
	if at > 0 && strings.IndexByte(symbols, text[at-1]) >= 0 {
		return false
	}
	rest := bytes.TrimLeft(text[at:min(len(text), at+200)], "-")
	return len(rest) == 0 || strings.IndexByte(symbols, rest[0]) < 0
}

var character = lazyregexp.New(`^'(?:[^'\\\n]|\\[^\n][^'\n]{0,7})'`)

// startsCharacter tells a character from a quote in a name (foldl') or before a constructor as a type ('Normal).
func startsCharacter(text []byte, at int) bool {
	if at > 0 && (source.IsWordByte(text[at-1]) || text[at-1] == '\'') {
		return false
	}
	return character.Match(text[at:min(len(text), at+16)])
}

// quasiQuote is a text between [name| and |].
func quasiQuote(name string) source.Lexeme {
	return source.String("["+name+"|", "|]", source.Quoting{Multiline: true, Raw: true})
}
