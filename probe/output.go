package probe

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// output is where the probe's words go. The rules, all of them here:
//
//   - standard output carries only what was asked for as such: help, version
//   - standard error carries the rest, a line each, without time stamps
//   - a failure is one line "error: ...", then at most one line "hint: ..."
//   - success is "status: SERVING", as it is for grpc-health-probe
//   - text that came over the network cannot break or colour a line
//   - values of -rpc-header are never printed
//
// A failure to write is ignored: the exit code is the answer, and a closed
// standard error must not turn a healthy server into an unhealthy one.
type output struct{ stdout, stderr io.Writer }

// maxLine bounds a line in bytes. The kubelet keeps 10 KiB of a probe's output,
// and a server chooses the message of its RPC status.
const maxLine = 1 << 10

// result prints what was asked for.
func (o output) result(text string) { _, _ = io.WriteString(o.stdout, text) }

// notes prints lines for the reader of a log.
func (o output) notes(lines []string) {
	for _, line := range lines {
		_, _ = fmt.Fprintln(o.stderr, printable(line))
	}
}

// failure prints err with its hint and returns the code to exit with.
func (o output) failure(err error) ExitCode {
	lines := []string{"error: " + err.Error()}
	code := ExitUsage
	if f, ok := errors.AsType[*Failure](err); ok {
		code = f.Code
		if f.Hint != "" {
			lines = append(lines, "hint: "+f.Hint)
		}
	}
	o.notes(lines)
	return code
}

// printable makes text fit for one line of a log.
func printable(text string) string {
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
