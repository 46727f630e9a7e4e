package probe

import (
	"os"
	"syscall"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/check/rawfile"
	"github.com/grpc-cnb/health-probe/probe/discover"
	"github.com/grpc-cnb/health-probe/probe/flags"
)

// Main runs one probe over t with the arguments, environment and standard streams of the process, and returns the exit
// code, an [outcome.ExitCode].
//
// Main installs no signal handler. SIGINT and SIGTERM end the process by the default action, which no caller takes for
// a success, and os/signal would cost every probe a quarter more CPU time.
func Main(t check.Transport) int {
	out := output{stdout: rawfile.Stream(syscall.Stdout), stderr: rawfile.Stream(syscall.Stderr)}
	c := flags.Probe()
	text, err := c.Gather(os.Args[1:])
	if text != "" {
		out.result(text)
		return int(outcome.ExitServing)
	}
	if err == nil && c.Verbose() {
		out.notes(c.Describe()...)
	}
	if err == nil && c.Discovers() {
		return int(runDiscover(t, c, &out))
	}
	ended := run(t, c, &out, err)
	if c.Verbose() || !ended.Passes() {
		ended.Notes = append(ended.Notes, c.Ignored()...)
	}
	return int(out.outcome(c.Format(), ended))
}

// runDiscover prints the report on the sockets of this container.
func runDiscover(t check.Transport, c *flags.CommandLine, out *output) outcome.ExitCode {
	o, err := c.Options(check.LookUpPort)
	var report *discover.Report
	if err == nil {
		report, err = discover.Run(t, o)
	}
	switch {
	case err != nil:
		return out.outcome(c.Format(), o.Ended(err))
	case c.Format() == flags.JSON:
		out.result(string(report.JSON()))
	default:
		out.result(report.Text())
	}
	return outcome.ExitServing
}

// run probes as the command line says, unless gathering has failed. Large values are passed by pointer: a test of the
// program requires the stack of a probe to stay under 4 KB.
func run(t check.Transport, c *flags.CommandLine, out *output, gathered error) *outcome.Outcome {
	o, err := c.Options(check.LookUpPort)
	if gathered != nil {
		err = gathered
	}
	if err != nil {
		return o.Ended(err)
	}
	p := &check.Prober{
		Transport: t, Options: o,
		Change: func(a outcome.Answer) { out.change(c.Format(), a) },
		Lists:  c.Verbose() || c.Format() == flags.JSON,
	}
	if c.Verbose() {
		p.Note = func(line string) { out.notes(line) }
	}
	return p.Run()
}
