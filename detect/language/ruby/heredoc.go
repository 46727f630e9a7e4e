package ruby

import (
	"bytes"
	"sort"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// heredocStart is the beginning of a heredoc: <<~NAME, <<-"NAME", <<NAME. Without ~ or - the name has to be in
	// capitals, because << is also an operator.
	heredocStart = lazyregexp.New(
		"(?:^|[^\\w)\\]])<<(?:[~-][\"'`]?([A-Za-z_]\\w*)|[\"'`]?([A-Z][A-Z_0-9]+)\\b)")
	// terminator is a line that ends a heredoc of the same name.
	terminator = lazyregexp.New(`(?m)^[ \t]*(?P<name>[A-Za-z_]\w*)\r?$`)
)

// maxHeredocLine is the longest line, in bytes, that is searched for heredocs. Only generated files have longer lines.
const maxHeredocLine = 4096

// heredocsInLine returns the names of the heredocs that begin in the line before an offset at its end.
func heredocsInLine(text []byte, at int) []string {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	if !bytes.Contains(line, []byte("<<")) || len(line) > maxHeredocLine {
		return nil
	}
	var names []string
	for _, m := range heredocStart.FindAllSubmatch(line, -1) {
		names = append(names, string(m[1])+string(m[2]))
	}
	return names
}

// terminators are the lines that may end a heredoc, in order, by the name in the line.
type terminators map[string][]source.Span

func findTerminators(text []byte) terminators {
	found := terminators{}
	if bytes.Contains(text, []byte("<<")) {
		for _, m := range source.Uncut(text).FindAll(terminator, -1) {
			name := string(text[m[2]:m[3]])
			found[name] = append(found[name], source.Span{From: m[0], To: m[1]})
		}
	}
	return found
}

// end is the End of the contents of all heredocs that begin in the line before an offset. A heredoc needs a later line
// with just its name.
func (t terminators) end(text []byte, from int) (inner, after int) {
	inner, after = from, from
	for _, name := range heredocsInLine(text, from-1) {
		lines := t[name]
		i := sort.Search(len(lines), func(i int) bool { return lines[i].From >= after })
		if i < len(lines) {
			inner, after = lines[i].From, lines[i].To
		}
	}
	return inner, after
}
