// Package bridge answers health checks, by gRPC and by HTTP, for a gRPC server that callers cannot check themselves:
// the kubelet's own probe verifies no certificate, sends no metadata, and reaches no socket. Beside the app in its pod,
// a bridge does that.
//
//	caller --> limiter --> conn --> stream --> scheduler --> target on upstreams --> server
//
// The limiter accepts connections, refuses them, and gets their slots back. The scheduler asks in rounds, each for all
// who wait for the same answer, and stream.answered chooses what a caller is told, by round.status. What all
// connections have in common is in shared.
//
// A caller is anybody in the pod's network, so everything is bounded: how many connections there are (limiter), what
// one connection can hold (conn, added up in limits.go), what a caller can send without a question (conn.spend), and
// how often the server is asked (scheduler). The bridge asks the server for each question, and never answers from
// memory. Begin with [Main].
package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/grpc-cnb/health-probe/probe/bridge/background"
	"github.com/grpc-cnb/health-probe/probe/bridge/bridgeflags"
	"github.com/grpc-cnb/health-probe/probe/bridge/linelog"
	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

const (
	// processors is how many processors are used at the same time. With two, a check costs a fifth more CPU time and is
	// answered no sooner: the Go runtime wakes the second for what the first has done by then.
	processors = 1
	// gcPercent is how much the heap grows between two collections, as measured: with 50 the process has 1 MB more, and
	// with 12 a check costs more CPU time for the same memory.
	gcPercent = 25
	// memoryLimit is from how many bytes on the collector works harder, as for many callers at once.
	memoryLimit = 14 << 20
	// drainTimeout is how long open questions have after the signal to end, and logTimeout how long the last lines of
	// the log have.
	drainTimeout, logTimeout = 2 * time.Second, time.Second
)

// Main runs the bridge with the arguments, environment and standard streams of the process, until SIGTERM or SIGINT,
// and returns the exit code. Called by the lifecycle's launcher, or with -background, Main starts a process that does
// so, and returns 0.
func Main() int {
	signal.Ignore(syscall.SIGPIPE) // of a log without a reader
	report := background.Inherited()
	if report == nil && background.IsLauncher(os.Args[0]) {
		background.StartForLauncher()
		return int(outcome.ExitServing)
	}
	runtime.GOMAXPROCS(processors)
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(memoryLimit)
	log := report.Log(os.Stderr)
	f, text, err := bridgeflags.Read(os.Args[1:], check.LookUpPort, report != nil)
	switch {
	case text != "":
		_, _ = io.WriteString(os.Stdout, text) // exits with 0 even if nobody reads, as the probe does
		return int(outcome.ExitServing)
	case report == nil && bridgeflags.AsksForBackground(f, os.Args[1:]):
		background.Start(os.Args[1:], nil)
		return int(outcome.ExitServing)
	case err == nil:
		err = run(newTarget(f), report, log)
	}
	if err != nil {
		ended := outcome.Outcome{Failures: outcome.FailuresOf(err), Notes: bridgeflags.Ignored()}
		lines := ended.Lines()
		report.Done(lines...)
		log.Print(lines...)
	}
	log.Flush(logTimeout)
	if err != nil {
		return int(outcome.ExitUsage)
	}
	return int(outcome.ExitServing)
}

// run serves until SIGTERM or SIGINT. A bridge in the background reports when it listens, ends when the app waits for
// the bridge's end, and ends silently if the container has a bridge already.
func run(t target, report *background.Report, log *linelog.Log) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	listener, err := listen(ctx, t.Listen)
	switch {
	case ctx.Err() != nil, report != nil && errors.Is(err, syscall.EADDRINUSE) && background.IsStarted():
		report.Done()
		return nil
	case err != nil:
		return &outcome.Failure{
			Code: outcome.ExitUsage, Err: fmt.Errorf("listening on %q: %w", t.Listen, check.Innermost(err)),
			Hint: "set -listen to a free port, such as :8087: pods with hostNetwork share those of the node",
		}
	}
	if report.Done(); report != nil {
		go func() {
			if background.AppWaits(ctx) {
				log.Print("the app waits until it has no children: the bridge ends")
				stop()
			}
		}()
	}
	return serve(ctx, t, listener, log)
}

func serve(ctx context.Context, t target, listener net.Listener, log *linelog.Log) error {
	asking := fmt.Sprintf("asking %q", t.Options.Addr)
	if t.Options.Addr == "" {
		asking = "asking the gRPC server that this container has"
	}
	log.Print(append(t.Notes, fmt.Sprintf("listening on %v, %s", listener.Addr(), asking))...)
	var upstreams upstreams
	defer upstreams.close()
	s := newShared(t, newScheduler(t, &upstreams, log), log)
	l := newLimiter(listener, s, allowList{networks: t.Allow, gateways: findGateways()}, slotsFor(openFiles()))
	closed := make(chan error, 1)
	go func() { closed <- l.serve() }()
	select {
	case err := <-closed:
		return fmt.Errorf("serving on %q: %w", t.Listen, err)
	case <-ctx.Done():
	}
	s.stopping.Store(true)
	l.close(time.Now().Add(drainTimeout))
	return nil
}
