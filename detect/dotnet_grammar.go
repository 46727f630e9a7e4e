package detect

import (
	"bytes"
	"regexp"
)

// dotnetGrammars are the languages' grammars, by the ending of their sources.
var dotnetGrammars = map[string]grammar{
	".cs": {
		toLineEnd("//"), between("/*", "*/", false),
		// C# language reference, raw string literals: three quotes or more, with any number of $ before them.
		{open: `"""`, end: csharpRaw},
		{open: "$", starts: csharpRawFollows, end: csharpRaw},
		{open: `$@"`, end: csharpInterpolated(true)}, {open: `@$"`, end: csharpInterpolated(true)},
		{open: `$"`, end: csharpInterpolated(false)},
		quoted(`@"`, `"`, quoting{raw: true, multiline: true, doubled: true}),
		quoted(`"`, `"`, quoting{}), quoted("'", "'", quoting{}),
	},
	".fs": {
		toLineEnd("//"),
		{open: "(*", comment: true, starts: fsharpNoOperator, end: between("(*", "*)", true).end},
		quoted(`"""`, `"""`, quoting{raw: true, multiline: true}),
		quoted(`@"`, `"`, quoting{raw: true, multiline: true, doubled: true}),
		quoted(`"`, `"`, quoting{multiline: true}),
		{open: "'", starts: fsharpChar, end: quoted("'", "'", quoting{}).end},
	},
	".vb": {
		toLineEnd("'"), quoted(`"`, `"`, quoting{raw: true, multiline: true, doubled: true}),
	},
}

var csharpRawOpening = regexp.MustCompile(`^\$+"""`)

// maxDollars is how many $ a raw string may begin with: one for each brace that opens code in it.
const maxDollars = 16

func csharpRawFollows(text []byte, at int) bool {
	return csharpRawOpening.Match(text[at:min(len(text), at+maxDollars)])
}

// csharpRaw takes a raw string from any place in its opening: it ends with as many quotes as it begins with.
func csharpRaw(text []byte, from int) (inner, after int) {
	for from > 0 && text[from-1] == '"' {
		from--
	}
	for from < len(text) && text[from] == '$' {
		from++
	}
	quotes := 0
	for ; from < len(text) && text[from] == '"'; from++ {
		quotes++
	}
	closing := bytes.Repeat([]byte{'"'}, quotes)
	if n := bytes.Index(text[from:], closing); n >= 0 {
		return from + n, from + n + quotes
	}
	return len(text), len(text)
}

// csharpInterpolated is the end of a string with code in braces; a brace twice stands for itself.
func csharpInterpolated(verbatim bool) func(text []byte, from int) (inner, after int) {
	return func(text []byte, from int) (int, int) {
		for from < len(text) {
			twice := from+1 < len(text) && text[from] == text[from+1]
			switch c := text[from]; {
			case c == '{' && twice, c == '"' && twice && verbatim, c == '\\' && !verbatim:
				from = min(from+2, len(text))
			case c == '{':
				from = embedded(text, from+1)
			case c == '"':
				return from, from + 1
			case c == '\n' && !verbatim:
				return from, from
			default:
				from++
			}
		}
		return from, from
	}
}

// fsharpNoOperator tells a comment from the operator (*).
func fsharpNoOperator(text []byte, at int) bool {
	return at+2 >= len(text) || text[at+2] != ')'
}

var fsharpCharacter = regexp.MustCompile(`^'(?:[^\\'\n]|\\[^\n]{1,9}?)'`)

// fsharpChar tells a character from a type variable ('a) and from the end of a name (x').
func fsharpChar(text []byte, at int) bool {
	return (at == 0 || !wordByte(text[at-1])) && fsharpCharacter.Match(text[at:min(len(text), at+16)])
}
