package detect

import (
	"bytes"
	"regexp"
	"strings"
)

// nodeGrammar is JavaScript's and TypeScript's (ECMA-262, Lexical Grammar). Code in a template is blanked with it.
var nodeGrammar = grammar{
	{open: "#!", comment: true, starts: func(_ []byte, at int) bool { return at == 0 }, end: toLineEnd("").end},
	toLineEnd("//"),
	between("/*", "*/", false),
	quoted(`"`, `"`, quoting{}),
	quoted(`'`, `'`, quoting{}),
	quoted("`", "`", quoting{multiline: true, embeds: "${"}),
	{open: "/", starts: nodeRegexpStarts, end: nodeRegexpEnd},
}

// nodeRegexpMax is the longest regular expression literal that is taken for one: a bound on how far a slash is followed.
const nodeRegexpMax = 1000

// nodeTested is a regular expression literal where a slash may also divide: after a bracket that closes.
var nodeTested = regexp.MustCompile(`^/(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*\.(?:test|exec)\(`)

// nodeRegexpStarts reports whether a slash begins a regular expression: it divides after a value.
func nodeRegexpStarts(text []byte, at int) bool {
	before := bytes.TrimRight(text[:at], " \t\r\n")
	if len(before) == 0 {
		return true
	}
	switch last := before[len(before)-1]; {
	case last == ')' || last == '}':
		return nodeTested.Match(text[at:min(at+nodeRegexpMax, len(text))])
	case last == '/':
		return bytes.HasSuffix(before, []byte("*/"))
	case nodeInWord(last):
		return nodeBeforeValue.Match(before[max(0, len(before)-12):])
	default:
		return strings.IndexByte("]\"'`<", last) < 0
	}
}

// nodeBeforeValue are the words that a value follows.
var nodeBeforeValue = regexp.MustCompile(`(?:^|[^\w$.])(?:return|typeof|case|in|of|delete|void|throw|new|do|else|await|yield)$`)

func nodeInWord(c byte) bool {
	return c == '$' || wordByte(c)
}

func nodeRegexpEnd(text []byte, from int) (inner, after int) {
	class := false
	for at := from; at < min(from+nodeRegexpMax, len(text)); at++ {
		switch c := text[at]; {
		case c == '\n':
			return from, from
		case c == '\\':
			at++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			return at, at + 1
		}
	}
	return from, from
}
