package probe

import (
	"os"
	"syscall"
)

// Main runs one probe over t with the arguments, environment and standard streams of the process, and returns the code
// to exit with, an [ExitCode].
//
// It installs no signal handler. SIGINT and SIGTERM end the process by their default action, which no caller takes for
// a success, and os/signal would cost every probe a quarter more CPU time.
func Main(t Transport) int {
	out := output{stdout: stream(syscall.Stdout), stderr: stream(syscall.Stderr)}
	s := newSettings()
	text, err := s.gather(os.Args[1:])
	if text != "" {
		out.result(text)
		return int(ExitServing)
	}
	if err == nil && s.options.Verbose {
		out.notes(s.describe())
	}
	p := prober{transport: t, options: &s.options, out: out}
	if err == nil {
		err = s.options.validate()
	}
	if err == nil {
		err = p.run()
	}
	return int(out.outcome(&s.options, &p.report, err))
}
