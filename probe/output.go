package probe

import (
	"fmt"
	"io"
	"os"

	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/flags"
)

// output is the destination of the probe's words. The rules, all of them here:
//
//   - standard output carries only requested text: help, version, each change with -watch, and with -o json the
//     outcome as one line
//   - standard error carries the rest, one per line, without timestamps
//   - a failure is one line "error: ..." for each service, ten at the most, then each hint once, a line "hint: ..."
//   - further facts are lines "note: ...", after errors and hints
//   - success is "status: SERVING", as in grpc-health-probe, in -mode=ready
//   - with -o json standard error has only the additions of -v
//   - text from the network cannot break or colour a line
//   - values of -rpc-header and -rpc-header-file are not printed, nor a server's repetition of the values as far as
//     [metadata.Hide] finds it
//
// A failure to write is ignored: the exit code is the answer, and a closed standard error must not turn a healthy
// server into an unhealthy one. But a change that nobody reads ends -watch by SIGPIPE, as in other programs.
type output struct{ stdout, stderr io.Writer }

// result prints requested text.
func (o output) result(text string) { _, _ = io.WriteString(o.stdout, text) }

// notes prints lines for the reader of a log.
func (o output) notes(lines ...string) {
	for _, line := range lines {
		_, _ = fmt.Fprintln(o.stderr, outcome.Printable(line))
	}
}

// outcome prints the outcome of the probe and returns the exit code.
func (o output) outcome(f flags.Format, ended *outcome.Outcome) outcome.ExitCode {
	if f == flags.JSON {
		o.result(string(ended.JSON()))
	} else {
		o.notes(ended.Lines()...)
	}
	return ended.Code()
}

// change prints the new status of a service. Package os does the writing, so that the process ends if nobody reads (see
// [rawfile.Stream]).
func (o output) change(f flags.Format, a outcome.Answer) {
	o.stdout = os.Stdout
	if f == flags.JSON {
		o.result(string(append(a.JSON(), '\n')))
		return
	}
	o.result("status: " + a.Status.String() + "\n")
}
