package node

import (
	"bytes"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// grammar is the syntax of comments and strings in JavaScript and TypeScript (ECMA-262, Lexical Grammar). Code in a
// template literal is blanked together with the literal.
var grammar = source.Grammar{
	{Open: "#!", Comment: true, Starts: startsText, End: source.LineComment("").End},
	source.LineComment("//"),
	source.BlockComment("/*", "*/", false),
	source.String(`"`, `"`, source.Quoting{}),
	source.String(`'`, `'`, source.Quoting{}),
	source.String("`", "`", source.Quoting{Multiline: true, Embeds: "${"}),
	{Open: "/", Starts: startsRegexp, End: regexpEnd},
}

// maxRegexp is the most bytes from a slash to the end of a regular expression literal. Real literals are shorter.
const maxRegexp = 1000

var (
	// testedRegexp is a regular expression literal with an immediate call of a method. Behind a closing bracket a slash
	// is more often a division, so only testedRegexp is read as a literal there.
	testedRegexp = lazyregexp.New(`^/(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*\.(?:test|exec)\(`)
	// beforeOperand is text that ends with a keyword before an operand.
	beforeOperand = lazyregexp.New(
		`(?:^|[^\w$.])(?:return|typeof|case|in|of|delete|void|throw|new|do|else|await|yield)$`)
)

func startsText(_ []byte, at int) bool { return at == 0 }

// startsRegexp reports whether a slash begins a regular expression literal. Behind an operand a slash is a division.
func startsRegexp(text []byte, at int) bool {
	before := bytes.TrimRight(text[:at], " \t\r\n")
	if len(before) == 0 {
		return true
	}
	switch last := before[len(before)-1]; {
	case last == ')' || last == '}':
		return testedRegexp.Match(text[at:min(at+maxRegexp, len(text))])
	case last == '/':
		return bytes.HasSuffix(before, []byte("*/"))
	case isNameByte(last):
		return beforeOperand.Match(before[max(0, len(before)-12):])
	default:
		return strings.IndexByte("]\"'`<", last) < 0
	}
}

// isNameByte reports whether a byte is part of a name, as a dollar sign is.
func isNameByte(c byte) bool {
	return c == '$' || source.IsWordByte(c)
}

// regexpEnd is the End of a regular expression literal. A slash begins no literal without a second slash in its line
// and within maxRegexp bytes.
func regexpEnd(text []byte, from int) (inner, after int) {
	inClass := false
	for at := from; at < min(from+maxRegexp, len(text)); at++ {
		switch c := text[at]; {
		case c == '\n':
			return from, from
		case c == '\\':
			at++
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		case c == '/' && !inClass:
			return at, at + 1
		}
	}
	return from, from
}
