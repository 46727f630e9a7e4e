package analyzertest

import (
	"bytes"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Layouts tests that the apps in testdata/apps have the same findings with another layout of the statements and with
// Windows line endings. read tells code and strings apart in sources with the extensions.
func Layouts[T any](
	t *testing.T, d analyzer.Definition[T], read func(text []byte) *source.Text, extensions ...string,
) {
	for _, path := range archives(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, want := readArchive(t, path)
			for i, f := range archive.Files {
				if slices.Contains(extensions, filepath.Ext(f.Name)) {
					archive.Files[i].Data = layOut(f, read(bytes.Clone(f.Data)))
				}
			}
			servers := scan(t, analyzer.New(d), unpack(t, archive), t.Logf)
			if got, want := withoutLines(Describe(servers)), withoutLines(want); got != want {
				t.Errorf("found:\n%swant:\n%s", got, want)
			}
		})
	}
}

// lineNumber matches a line number after the path of a file.
var lineNumber = lazyregexp.New(`:\d+`)

// withoutLines returns sorted descriptions of servers without line numbers.
func withoutLines(servers string) string {
	lines := strings.SplitAfter(string(lineNumber.ReplaceAll([]byte(servers), []byte(":N"))), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// layOut returns the text of a file with each argument on a line, chained calls below each other, and carriage returns.
func layOut(f txtar.File, text *source.Text) []byte {
	breaks := map[int]bool{}
	type bracket struct {
		at     int
		commas []int
	}
	open := []bracket{{}} // the first bracket is around the whole text
	for at, c := range text.Code {
		last := &open[len(open)-1]
		switch c {
		case '(', '[', '{':
			open = append(open, bracket{at: at})
		case ')', ']', '}':
			if isCall(text, last.at, at) {
				breaks[last.at+1], breaks[at] = true, true
				for _, comma := range last.commas {
					breaks[comma+1] = true
				}
			}
			open = open[:max(1, len(open)-1)]
		case ',':
			last.commas = append(last.commas, at)
		case '.':
			isCalled := bytes.HasSuffix(text.Code[:at], []byte(")")) && source.IsWordByte(text.Code[at+1])
			breaks[at] = breaks[at] || isCalled && leadingDot[path.Ext(f.Name)]
		}
	}
	var all bytes.Buffer
	indent := ""
	for at, c := range f.Data {
		if line := f.Data[at:]; at == 0 || f.Data[at-1] == '\n' {
			indent = string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
		}
		if breaks[at] {
			all.WriteString("\r\n" + indent + "        ")
		}
		if c == '\n' {
			all.WriteByte('\r')
		}
		all.WriteByte(c)
	}
	return all.Bytes()
}

// leadingDot holds the extensions of languages in which a line may begin with a dot.
var leadingDot = map[string]bool{
	".java": true, ".kt": true, ".scala": true, ".js": true, ".ts": true, ".cs": true, ".rs": true, ".cc": true,
	".dart": true, ".swift": true, ".rb": true,
}

// isCall reports whether round brackets, from one offset to another, hold arguments or parameters, all on one line.
func isCall(text *source.Text, from, to int) bool {
	if from == 0 || text.Code[from] != '(' || !source.IsWordByte(text.Code[from-1]) && text.Code[from-1] != '>' {
		return false
	}
	in := text.Raw[from+1 : to]
	return len(bytes.TrimSpace(in)) > 0 && !bytes.Contains(in, []byte("\n"))
}
