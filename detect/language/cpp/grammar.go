package cpp

import (
	"bytes"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// grammar is the syntax of comments and strings (C++ standard, lex.comment and lex.string). Code that the preprocessor
// leaves out is blanked like a comment.
var grammar = source.Grammar{
	{Open: "//", Comment: true, End: lineCommentEnd},
	source.BlockComment("/*", "*/", false),
	source.Uncompiled(`0|false`),
	{Open: `R"`, Starts: isRawString, End: rawStringEnd},
	source.String(`"`, `"`, source.Quoting{}),
	{Open: "'", Starts: isCharacter, End: source.String("'", "'", source.Quoting{}).End},
}

// lineCommentEnd ends a comment with the line. A backslash at the end of a line continues the comment.
func lineCommentEnd(text []byte, from int) (inner, after int) {
	for ; from < len(text); from++ {
		if text[from] == '\n' && text[from-1] != '\\' && !bytes.HasSuffix(text[:from], []byte("\\\r")) {
			break
		}
	}
	return from, from
}

// isRawString tells the R of a raw string, possibly after an encoding (R"x(, u8R"x(), from the end of a name.
func isRawString(text []byte, at int) bool {
	for i := at - 1; i >= 0 && i >= at-2; i-- {
		if !source.IsWordByte(text[i]) {
			return true
		}
		if c := text[i]; c != 'u' && c != 'U' && c != 'L' && c != '8' {
			return false
		}
	}
	return true
}

// maxDelimiter is how many characters the delimiter of a raw string may have (C++ standard, lex.string).
const maxDelimiter = 16

// rawStringEnd ends a raw string, from the offset after the opening quote: delimiter, parenthesis, contents,
// parenthesis, delimiter, quote.
func rawStringEnd(text []byte, from int) (inner, after int) {
	n := bytes.IndexByte(text[from:min(len(text), from+maxDelimiter+1)], '(')
	if n < 0 {
		return from, from
	}
	closing := []byte(")" + string(text[from:from+n]) + `"`)
	if end := bytes.Index(text[from+n:], closing); end >= 0 {
		return from + n + end, from + n + end + len(closing)
	}
	return len(text), len(text)
}

// isCharacter tells the quote of a character from the separator of digits (1'000).
func isCharacter(text []byte, at int) bool {
	if at == 0 || !source.IsWordByte(text[at-1]) {
		return true
	}
	c := text[at-1]
	return c == 'L' || c == 'u' || c == 'U' || c == '8' && at > 1 && text[at-2] == 'u'
}
