package documents_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/documents"
	"github.com/grpc-cnb/health-probe/integration/documents/messages"
)

// TestTroubleshootingHasEachMessage compares docs/troubleshooting.md with the messages that other tests expect of the
// programs: each row quotes a message that exists, and each error and hint of the probe is in a row. An ellipsis stands
// for what varies.
func TestTroubleshootingHasEachMessage(t *testing.T) {
	t.Parallel()
	d := must(documents.Read(filepath.Join(repository, "docs/troubleshooting.md")))(t)
	scripts := must(documents.Messages(filepath.Join(repository, "probe/testdata")))(t)
	wantQuotes(t, "error", append(d.Quoted("error", 0), "and … more"), scripts["error: "])
	wantQuotes(t, "hint", d.Quoted("error", 1), scripts["hint: "])

	build := must(documents.Messages(filepath.Join(repository, "cmd/buildpack/testdata")))(t)
	phase := must(documents.Messages(filepath.Join(repository, "detect/buildplan/testdata/phase")))(t)
	report := must(documents.Messages(filepath.Join(repository, "build/execprobe/testdata")))(t)
	for _, quote := range d.Quoted("the build says", 0) {
		if !slices.ContainsFunc(slices.Concat(build[""], phase[""], report[""]), quoted(quote).MatchString) {
			t.Errorf("no test expects a build to say %q", quote)
		}
	}
}

// wantQuotes wants each quote to be a message that a test expects or that the code of the probe has, and each message
// that a test expects to be quoted.
func wantQuotes(t *testing.T, what string, quotes, expected []string) {
	t.Helper()
	code := probeMessages(t)
	for _, quote := range quotes {
		if !slices.ContainsFunc(expected, quoted(quote).MatchString) && !isWritten(quote, code) {
			t.Errorf("docs/troubleshooting.md quotes the %s %q, which neither the probe nor a test of it has", what,
				quote)
		}
	}
	for _, message := range expected {
		if !slices.ContainsFunc(quotes, func(quote string) bool { return quoted(quote).MatchString(message) }) {
			t.Errorf("docs/troubleshooting.md: add a row for the %s %q", what, message)
		}
	}
}

// isWritten reports whether the end of a quote, which is where a message says its cause, is in the code or is an error
// of the kernel.
func isWritten(quote string, code []messages.Message) bool {
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
	return slices.ContainsFunc(code, func(m messages.Message) bool {
		return slices.ContainsFunc(pieces(m.Text), func(piece string) bool {
			return strings.Contains(piece, end) || len(piece) > len("the server") && strings.HasSuffix(end, piece)
		})
	})
}

// probeMessages returns the errors and hints of the probe. It reads them from the packages once, for all tests.
func probeMessages(t *testing.T) []messages.Message {
	t.Helper()
	return must(readMessages())(t)
}

var readMessages = sync.OnceValues(func() ([]messages.Message, error) {
	all, err := messages.ReadAll(filepath.Join(repository, "probe"))
	if err != nil {
		return nil, err
	}
	steps, err := documents.Constants(filepath.Join(repository, "probe"), "Step")
	for _, step := range steps { // what the probe waited for, a part of an error
		all = append(all, messages.Message{Text: strings.Trim(step, `"`)})
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
			isSame := func(m messages.Message) bool {
				isWhole, isEnd := m.Text == words, strings.HasSuffix(words, ": "+m.Text)
				return m.IsHint == (match[1] == "hint") && (isWhole || isEnd && !m.IsHint)
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
