package documents_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode"

	"github.com/grpc-cnb/health-probe/integration/documents"
)

// TestTroubleshootingQuotesMessages makes sure that each message in docs/troubleshooting.md is one that a test expects
// of the programs, or that the code of the probe has. An ellipsis stands for what varies.
func TestTroubleshootingQuotesMessages(t *testing.T) {
	t.Parallel()
	d := must(documents.Read(filepath.Join(repository, "docs/troubleshooting.md")))(t)
	expected := must(expectedLines(filepath.Join(repository, "probe/testdata")))(t)
	code := probeMessages(t)
	for _, quote := range d.Quoted("error", 0) {
		if !slices.ContainsFunc(expected, quoted(quote).MatchString) && !isWritten(quote, code) {
			t.Errorf("docs/troubleshooting.md quotes %q, which neither the probe nor a test of it has", quote)
		}
	}
	var logs []string
	for _, folder := range []string{
		"cmd/buildpack/testdata", "detect/buildplan/testdata/phase", "build/execprobe/testdata",
	} {
		logs = append(logs, must(expectedLines(filepath.Join(repository, folder)))(t)...)
	}
	for _, quote := range d.Quoted("the build says", 0) {
		if !slices.ContainsFunc(logs, quoted(quote).MatchString) {
			t.Errorf("no test expects a build to say %q", quote)
		}
	}
}

// isWritten reports whether the end of a quote, which is where a message says its cause, is in the code or is an error
// of the kernel.
func isWritten(quote string, code []message) bool {
	found := pieces(quote)
	if len(found) == 0 {
		return false
	}
	end := found[len(found)-1]
	end = strings.TrimLeft(end[strings.LastIndex(end, ": ")+1:], " -")
	for number := range syscall.Errno(200) {
		if number.Error() == end {
			return true
		}
	}
	return slices.ContainsFunc(code, func(m message) bool {
		return slices.ContainsFunc(pieces(m.Text), func(piece string) bool {
			return strings.Contains(piece, end) || len(piece) > len("the server") && strings.HasSuffix(end, piece)
		})
	})
}

// probeMessages returns the errors and hints of the probe. It reads them from the packages once, for all tests.
func probeMessages(t *testing.T) []message {
	t.Helper()
	return must(readMessages())(t)
}

var readMessages = sync.OnceValues(func() ([]message, error) {
	all, err := probeSays(filepath.Join(repository, "probe"))
	if err != nil {
		return nil, err
	}
	steps, err := constants(filepath.Join(repository, "probe"), "Step")
	for _, step := range steps { // what the probe waited for, a part of an error
		all = append(all, message{Text: strings.Trim(step, `"`)})
	}
	return all, err
})

// printed is an error or a hint in the prose of a document, as the probe prints it.
var printed = regexp.MustCompile("`(error|hint): ([^`.…]+)`")

// TestDocumentsQuoteMessages makes sure that errors and hints in prose are the probe's, word by word.
func TestDocumentsQuoteMessages(t *testing.T) {
	t.Parallel()
	found := 0
	for path, text := range allTexts(t) {
		for _, match := range printed.FindAllStringSubmatch(text, -1) {
			found++
			words := strings.Join(strings.Fields(match[2]), " ")
			isSame := func(m message) bool {
				isWhole, isEnd := m.Text == words, strings.HasSuffix(words, ": "+m.Text)
				return m.isHint == (match[1] == "hint") && (isWhole || isEnd && !m.isHint)
			}
			if !slices.ContainsFunc(probeMessages(t), isSame) {
				t.Errorf("%s quotes %q, which the probe does not say", path, match[0])
			}
		}
	}
	if found == 0 {
		t.Error("no document quotes a message")
	}
}

// quoted is what a quote stands for.
func quoted(quote string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(quote), "…", ".*") + "$")
}

// pieces returns the words of a text that are always the same: those between the ellipses. A dash before an ellipsis
// belongs to the name of a flag, for which the ellipsis stands.
func pieces(text string) []string {
	var found []string
	for piece := range strings.SplitSeq(text, "…") {
		if piece = strings.Trim(piece, " -:;\"()=\n"); strings.ContainsFunc(piece, unicode.IsLetter) {
			found = append(found, piece)
		}
	}
	return found
}
