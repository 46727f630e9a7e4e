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
//   - standard output carries only what was asked for as such: help, version, each change with -watch, and with -o json
//     the outcome as one line
//   - standard error carries the rest, a line each, without time stamps
//   - a failure is one line "error: ..." for each service, ten at the most, then each hint once, a line "hint: ..."
//   - success is "status: SERVING", as it is for grpc-health-probe, in -mode=ready
//   - with -o json standard error has only what -v adds
//   - text that came over the network cannot break or colour a line
//   - values of -rpc-header and -rpc-header-file are never printed
//
// A failure to write is ignored: the exit code is the answer, and a closed standard error must not turn a healthy
// server into an unhealthy one. But a change that nobody reads ends -watch by SIGPIPE, as it does other programs.
type output struct{ stdout, stderr io.Writer }

// stream is a standard stream. It does not write by way of package os, which ends the process by SIGPIPE after a write
// to a pipe that nobody reads any more.
type stream descriptor

// Write implements io.Writer.
func (s stream) Write(p []byte) (written int, err error) {
	for written < len(p) {
		n, err := syscall.Write(descriptor(s), p[written:])
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return written, err
		}
		written += max(n, 0)
	}
	return written, nil
}

// maxLine is the greatest length of a line, in bytes. The kubelet keeps only 10 KiB of a probe's output, and the server
// chooses the message of its RPC status.
const maxLine = 1 << 10

// maxErrors is the greatest number of lines "error: ...", because a server can list any number of services.
const maxErrors = 10

// result prints text that was asked for.
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

// change prints the new status of a service, in the format of -o. It writes by way of package os, so that it ends the
// process where nobody reads (see stream).
func (o output) change(f format, a Answer) {
	o.stdout = os.Stdout
	if f == formatJSON {
		o.result(string(append(a.json(), '\n')))
		return
	}
	o.result("status: " + a.Status.String() + "\n")
}

// lines returns the errors, up to the greatest number of them, then each hint once.
func (f failures) lines() (text []string) {
	for _, one := range f[:min(len(f), maxErrors)] {
		text = append(text, "error: "+one.Error())
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

// printable returns text as one line that is fit for a log.
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
