package probe

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"unicode"
)

// output is where the probe's words go. The rules, all of them here:
//
//   - standard output carries only what was asked for as such: help, version,
//     each change with -watch, and with -o json the outcome as one line
//   - standard error carries the rest, a line each, without time stamps
//   - a failure is one line "error: ..." for each service, ten at the most, then
//     each hint once, a line "hint: ..."
//   - success is "status: SERVING", as it is for grpc-health-probe, in -mode=ready
//   - with -o json standard error has only what -v adds
//   - text that came over the network cannot break or colour a line
//   - values of -rpc-header and -rpc-header-file are never printed
//
// A failure to write is ignored: the exit code is the answer, and a closed
// standard error must not turn a healthy server into an unhealthy one. But a
// change that nobody reads ends -watch by SIGPIPE, as it does other programs.
type output struct{ stdout, stderr io.Writer }

// stream is a standard stream. Package os is not used to write to it: after a
// write to a pipe that nobody reads any more it ends the process by SIGPIPE.
type stream int

// Write implements io.Writer.
func (s stream) Write(p []byte) (written int, err error) {
	for written < len(p) {
		n, err := syscall.Write(int(s), p[written:])
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return written, err
		}
		written += max(n, 0)
	}
	return written, nil
}

// maxLine bounds a line in bytes. The kubelet keeps 10 KiB of a probe's output,
// and a server chooses the message of its RPC status.
const maxLine = 1 << 10

// maxErrors bounds the lines "error: ...": a server lists as many services as it likes.
const maxErrors = 10

// result prints what was asked for.
func (o output) result(text string) { _, _ = io.WriteString(o.stdout, text) }

// notes prints lines for the reader of a log.
func (o output) notes(lines []string) {
	for _, line := range lines {
		_, _ = fmt.Fprintln(o.stderr, printable(line))
	}
}

// outcome prints how the probe ended and returns the code to exit with.
func (o output) outcome(options *Options, r *report, err error) ExitCode {
	failed := failuresOf(err)
	switch {
	case options.output == formatJSON:
		o.result(string(r.json(options.addr, failed)))
	case failed == nil:
		o.notes([]string{options.mode.success()})
	default:
		o.notes(failed.lines())
	}
	if failed == nil {
		return ExitServing
	}
	return failed.worst().Code
}

// change prints a status that a service has got, with the format of -o. It goes
// by way of package os: see stream.
func (o output) change(f format, a Answer) {
	o.stdout = os.Stdout
	if f == formatJSON {
		o.result(string(append(a.json(), '\n')))
		return
	}
	o.result("status: " + a.Status.String() + "\n")
}

// lines are the errors, as many as may be, then the hints without repetition.
func (f failures) lines() (text []string) {
	for _, one := range f[:min(len(f), maxErrors)] {
		text = append(text, "error: "+one.Error())
	}
	if more := len(f) - maxErrors; more > 0 {
		text = append(text, fmt.Sprintf("error: and %d more", more))
	}
	for _, one := range f {
		if hint := "hint: " + one.Hint; one.Hint != "" && !slices.Contains(text, hint) {
			text = append(text, hint)
		}
	}
	return text
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
