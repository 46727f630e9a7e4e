package outcome

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// maxLine is the greatest length of a line, in bytes. The kubelet keeps only 10 KiB of a probe's output, and the server
// chooses the message of its RPC status.
const maxLine = 1 << 10

// maxErrors is the greatest number of lines "error: ...", because a server can list any number of services.
const maxErrors = 10

// Lines returns the errors, up to maxErrors, then each hint once. No error or hint can break or colour a line.
func (f Failures) Lines() (text []string) {
	for _, one := range f[:min(len(f), maxErrors)] {
		text = append(text, Printable("error: "+one.Error()))
	}
	if more := len(f) - maxErrors; more > 0 {
		text = append(text, fmt.Sprintf("error: and %d more", more))
	}
	for _, one := range f {
		if hint := "hint: " + string(one.Hint); one.Hint != "" && !slices.Contains(text, hint) {
			text = append(text, hint)
		}
	}
	return text
}

// Printable returns text as one line that is fit for a log.
func Printable(text string) string {
	if len(text) > maxLine {
		text = text[:maxLine] + "..."
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
