// Package bridge answers health checks, by gRPC and by HTTP, for a gRPC server that its callers cannot check
// themselves: the kubelet's own probe verifies no certificate, sends no metadata, and reaches no socket. Beside the app
// in its pod, a bridge does that.
//
//	caller --> door --> conn --> stream --> questions --> target on lean.Kept --> server
//
// A caller is anybody in the pod's network, so all of it is bounded: how many connections there are (door), what one of
// them can hold (conn, and place.go, which adds it up), what it can do without asking (conn.spend), and what it can
// make the server do (questions). A question is asked of the server when it comes, never answered from memory. Begin
// with [Main].
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
	// gcPercent lets the heap grow by this much between two collections. It is what was measured to be a fair price:
	// with 50 the process has 1 MB more, and with 12 a check costs more CPU time and the process has no less.
	gcPercent = 25
	// memoryLimit makes the collector work harder, in bytes, before many callers at once use more.
	memoryLimit = 14 << 20
	// lastAnswers is how long a question may still take after the signal to end, and lastLines how long the log may
	// take for the last lines.
	lastAnswers, lastLines = 2 * time.Second, time.Second
)

// Main runs the bridge with the arguments, environment and standard streams of the process, until SIGTERM or SIGINT. It
// returns the code to exit with. Called by the lifecycle's launcher, or with -background, it starts a process that does
// this, and passes.
func Main() int {
	signal.Ignore(syscall.SIGPIPE) // of a log that nobody reads any more
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
		_, _ = io.WriteString(os.Stdout, text) // as the probe does, it passes if nobody reads
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
	log.Flush(lastLines)
	if err != nil {
		return int(outcome.ExitUsage)
	}
	return int(outcome.ExitServing)
}

// run answers until SIGTERM or SIGINT. A bridge in the background reports when it listens, and ends when the app waits
// for it. If the container has one already, it ends without a word.
func run(b target, report *background.Report, log *linelog.Log) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	listener, err := listen(ctx, b.Listen)
	switch {
	case ctx.Err() != nil, report != nil && errors.Is(err, syscall.EADDRINUSE) && background.IsStarted():
		report.Done()
		return nil
	case err != nil:
		return &outcome.Failure{
			Code: outcome.ExitUsage, Err: fmt.Errorf("listening on %q: %w", b.Listen, innermost(err)),
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
	return serve(ctx, b, listener, log)
}

// serve answers on a listener until ctx is done.
func serve(ctx context.Context, b target, listener net.Listener, log *linelog.Log) error {
	asking := fmt.Sprintf("asking %q", b.Options.Addr)
	if b.Options.Addr == "" {
		asking = "asking the gRPC server that this container has"
	}
	log.Print(append(b.Notes, fmt.Sprintf("listening on %v, %s", listener.Addr(), asking))...)
	var kept connections
	defer kept.close()
	s := newServer(b, newQuestions(b, &kept, log), log)
	d := newDoor(listener, s, guests{allowed: b.Allow, gateways: findGateways()}, placesFor(openFiles()))
	ended := make(chan error, 1)
	go func() { ended <- d.serve() }()
	select {
	case err := <-ended:
		return fmt.Errorf("serving on %q: %w", b.Listen, err)
	case <-ctx.Done():
	}
	s.stopping.Store(true)
	d.close(time.Now().Add(lastAnswers))
	return nil
}

// innermost leaves out what package net says about the operation and the address, which the message has already.
func innermost(err error) error {
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		return failed.Err
	}
	return err
}
