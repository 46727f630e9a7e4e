package dotnet

import (
	"bytes"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// debugOnly is code that buildpacks leave out: they build for release (learn.microsoft.com, "dotnet publish").
var debugOnly = source.Uncompiled(`DEBUG|\(DEBUG\)|false`)

// grammars are the syntax of comments and strings, by the extension of sources.
var grammars = map[string]source.Grammar{
	".cs": {
		debugOnly,
		source.LineComment("//"), source.BlockComment("/*", "*/", false),
		// A raw string may have several $ in front, as many as the braces that open code in the string.
		{Open: `"""`, End: rawStringEnd},
		{Open: `$"""`, End: rawStringEnd},
		{Open: `$$"""`, End: rawStringEnd},
		{Open: `$@"`, End: interpolatedEnd(true)},
		{Open: `@$"`, End: interpolatedEnd(true)},
		{Open: `$"`, End: interpolatedEnd(false)},
		source.String(`@"`, `"`, source.Quoting{Raw: true, Multiline: true, Doubled: true}),
		source.String(`"`, `"`, source.Quoting{}), source.String("'", "'", source.Quoting{}),
	},
	".fs": {
		debugOnly,
		source.LineComment("//"),
		{Open: "(*", Comment: true, Starts: isFSharpComment, End: source.BlockComment("(*", "*)", true).End},
		source.String(`"""`, `"""`, source.Quoting{Raw: true, Multiline: true}),
		source.String(`@"`, `"`, source.Quoting{Raw: true, Multiline: true, Doubled: true}),
		source.String(`"`, `"`, source.Quoting{Multiline: true}),
		{Open: "'", Starts: isFSharpCharacter, End: source.String("'", "'", source.Quoting{}).End},
	},
	".vb": {
		source.LineComment("'"), source.String(`"`, `"`, source.Quoting{Raw: true, Multiline: true, Doubled: true}),
	},
}

// rawStringEnd ends a raw string, from the offset after three quotes. Both ends have the same number of quotes.
func rawStringEnd(text []byte, from int) (inner, after int) {
	quotes := 3
	for ; from < len(text) && text[from] == '"'; from++ {
		quotes++
	}
	if n := bytes.Index(text[from:], bytes.Repeat([]byte{'"'}, quotes)); n >= 0 {
		return from + n, from + n + quotes
	}
	return len(text), len(text)
}

// interpolatedEnd returns the End of strings with code in braces. A double brace stands for a brace. In a verbatim
// string, a double quote mark stands for a quote mark, and a backslash is a backslash.
func interpolatedEnd(verbatim bool) func(text []byte, from int) (inner, after int) {
	return func(text []byte, from int) (int, int) {
		for from < len(text) {
			doubled := from+1 < len(text) && text[from] == text[from+1]
			switch c := text[from]; {
			case c == '{' && doubled, c == '"' && doubled && verbatim, c == '\\' && !verbatim:
				from = min(from+2, len(text))
			case c == '{':
				from = source.EmbeddedEnd(text, from+1)
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

// isFSharpComment tells a comment from the operator (*).
func isFSharpComment(text []byte, at int) bool {
	return at+2 >= len(text) || text[at+2] != ')'
}

var fsharpCharacter = lazyregexp.New(`^'(?:[^\\'\n]|\\[^\n]{1,9}?)'`)

// isFSharpCharacter tells a character from a type variable ('a) and from the end of a name (x').
func isFSharpCharacter(text []byte, at int) bool {
	return (at == 0 || !source.IsWordByte(text[at-1])) && fsharpCharacter.Match(text[at:min(len(text), at+16)])
}
