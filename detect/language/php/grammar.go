package php

import (
	"bytes"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// grammar is the syntax of comments and strings in PHP (php.net, Language Reference). Text outside of <?php ... ?> is
// blanked like a comment.
var grammar = source.Grammar{
	source.BlockComment("?>", "<?", false),
	source.LineComment("//"),
	{Open: "#", Comment: true, Starts: isHashComment, End: source.LineComment("#").End},
	source.BlockComment("/*", "*/", false),
	source.String(`'`, `'`, source.Quoting{Multiline: true}),
	source.String(`"`, `"`, source.Quoting{Multiline: true}),
	{Open: "<<<", Starts: isHeredoc, End: heredocEnd},
}

// readText separates code, comments and strings. Text before the first <? is no code.
func readText(text []byte) *source.Text {
	begin := bytes.Index(text, []byte("<?"))
	if begin < 0 {
		begin = len(text)
	}
	code := bytes.Clone(text)
	source.Blank(code[:begin])
	t := grammar.Read(code)
	t.Raw = text
	return t
}

// isHashComment tells a comment from an #[Attribute].
func isHashComment(text []byte, at int) bool { return at+1 == len(text) || text[at+1] != '[' }

// heredocName is the text behind the <<< of a heredoc or a nowdoc.
var heredocName = lazyregexp.New(`^[ \t]*["']?([A-Za-z_]\w*)["']?\r?\n`)

// maxHeredocName is how many bytes are searched for the name and the line break behind the name.
const maxHeredocName = 200

func isHeredoc(text []byte, at int) bool {
	return heredocName.Match(text[at+3 : min(at+maxHeredocName, len(text))])
}

// heredocEnd ends a heredoc at the line that begins with its name.
func heredocEnd(text []byte, from int) (inner, after int) {
	m := heredocName.FindSubmatchIndex(text[from:min(from+maxHeredocName, len(text))])
	if m == nil {
		return from, from
	}
	name := text[from+m[2] : from+m[3]]
	for at := from + m[1]; at < len(text); {
		line, _, _ := bytes.Cut(text[at:], []byte("\n"))
		rest, ok := bytes.CutPrefix(bytes.TrimLeft(line, " \t"), name)
		if ok && (len(rest) == 0 || rest[0] != '$' && !source.IsWordByte(rest[0])) {
			return at, at + len(line) - len(rest)
		}
		at += len(line) + 1
	}
	return len(text), len(text)
}
