package probe

import (
	"os"
	"syscall"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/check/rawfile"
)

// Main runs one probe over t with the arguments, environment and standard streams of the process, and returns the code
// to exit with, an [outcome.ExitCode].
//
// It installs no signal handler. SIGINT and SIGTERM end the process by their default action, which no caller takes for
// a success, and os/signal would cost every probe a quarter more CPU time.
func Main(t check.Transport) int {
	out := output{stdout: rawfile.Stream(syscall.Stdout), stderr: rawfile.Stream(syscall.Stderr)}
	c := newProbeLine()
	text, err := c.Gather(os.Args[1:])
	if text != "" {
		out.result(text)
		return int(outcome.ExitServing)
	}
	if err == nil && c.Verbose() {
		out.notes(c.Describe()...)
	}
	return int(out.outcome(c.values.output, c.probe(t, out, err)))
}

// newProbeLine returns the command line of the probe.
func newProbeLine() *CommandLine { return NewCommandLine(programName, help) }

// probe probes as the command line says, unless it is wrong.
func (c *CommandLine) probe(t check.Transport, out output, err error) outcome.Outcome {
	options := &c.values.Options
	if err == nil {
		options, err = c.Options()
	}
	if err != nil {
		return options.Ended(err)
	}
	p := check.Prober{
		Transport: t, Options: options,
		Change: func(a outcome.Answer) { out.change(c.values.output, a) },
	}
	if c.Verbose() {
		p.Note = func(line string) { out.notes(line) }
	}
	return p.Run()
}
