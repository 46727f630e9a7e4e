package probe

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"
)

// Main runs one probe over t with the arguments, environment and standard
// streams of the process, and returns the code to exit with, an [ExitCode].
//
// It installs no signal handler: SIGINT and SIGTERM end the process by their
// default action, which is not success for any caller, and os/signal would
// cost every probe a quarter more CPU time.
func Main(t Transport) int {
	out := output{stdout: os.Stdout, stderr: os.Stderr}
	if err := run(context.Background(), t, os.Args[1:], out); err != nil {
		return int(out.failure(err))
	}
	return int(ExitServing)
}

// run is Main with its outcome as an error, nil for SERVING or when help or the
// version was all that was asked for.
func run(ctx context.Context, t Transport, args []string, out output) error {
	s := newSettings()
	switch err := s.parse(args, "flag"); {
	case errors.Is(err, flag.ErrHelp):
		out.result(help())
		return nil
	case err != nil:
		return err
	case s.options.version:
		out.result(versionLine())
		return nil
	}
	if err := s.complete(); err != nil {
		return err
	}
	if s.options.Verbose {
		out.notes(s.describe())
	}
	if err := s.options.validate(); err != nil {
		return err
	}
	return check(ctx, t, &s.options, out)
}

// check connects, asks for the health of the service and judges the answer.
func check(ctx context.Context, t Transport, o *Options, out output) error {
	start := time.Now()
	conn, err := t.Dial(ctx, o)
	if err != nil {
		return explainDial(o, err)
	}
	// The process ends next: an error in closing can change nothing.
	defer func() { _ = conn.Close() }()
	connected := time.Now()
	status, err := conn.Check(ctx, o.Service)
	if err != nil {
		return explainCheck(o, err)
	}
	if o.Verbose {
		out.notes([]string{fmt.Sprintf("took: connect=%v rpc=%v", connected.Sub(start), time.Since(connected))})
	}
	if status != StatusServing {
		return &Failure{Code: ExitNotServing, Err: fmt.Errorf("checking %s: status is %v", subject(o.Service), status)}
	}
	out.notes([]string{"status: " + status.String()})
	return nil
}
