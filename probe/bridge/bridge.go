// Package bridge answers health checks, by gRPC and by HTTP, for a gRPC server that whoever asks cannot check itself:
// the kubelet's own probe verifies no certificate, sends no metadata, and reaches no socket. Beside the app in its pod,
// a bridge does that.
//
//	caller --> listener --> handler --> questions --> target on lean.Kept --> server
//
// A caller is anybody in the pod's network, so all of it is bounded: the connections (listener), what one of them can
// hold (newServer), and what it can make the server do (questions). A question is asked of the server when it comes,
// never answered from memory. Begin with [Main].
package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/grpc-cnb/health-probe/probe/bridge/bridgeflags"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/lean"
)

const (
	// processors is how many processors are used at the same time. With two, a check costs a fifth more CPU time and is
	// answered no sooner: the Go runtime wakes the second for what the first has done by then.
	processors = 1
	// gcPercent lets the heap grow by this much between two collections. It is what was measured to be a fair price:
	// with 25 a check costs a tenth more CPU time, with 100 the process has 2 MB more.
	gcPercent = 50
	// memoryLimit makes the collector work harder, in bytes, before many callers at once use more.
	memoryLimit = 24 << 20
	// lastAnswers is how long a question may still take after the signal to end.
	lastAnswers = 2 * time.Second
)

// Main runs the bridge with the arguments, environment and standard streams of the process, until SIGTERM or SIGINT. It
// returns the code to exit with.
func Main() int {
	runtime.GOMAXPROCS(processors)
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(memoryLimit)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	f, text, err := bridgeflags.Read(os.Args[1:])
	if text != "" {
		_, _ = io.WriteString(os.Stdout, text) // as the probe does, it passes where nobody reads
		return int(outcome.ExitServing)
	}
	if err == nil {
		err = run(ctx, target{f}, os.Stderr)
	}
	if err != nil {
		printLines(os.Stderr, outcome.FailuresOf(err).Lines())
		return int(outcome.ExitUsage)
	}
	return int(outcome.ExitServing)
}

// printLines writes lines to the log. An error in writing is ignored: that nobody reads the log must not end the
// answers.
func printLines(log io.Writer, lines []string) {
	for _, line := range lines {
		_, _ = fmt.Fprintln(log, line)
	}
}

// run answers until ctx is done.
func run(ctx context.Context, b target, log io.Writer) error {
	plain, err := net.Listen("tcp", b.Listen)
	if err != nil {
		return &outcome.Failure{
			Code: outcome.ExitUsage, Err: fmt.Errorf("listening on %q: %w", b.Listen, innermost(err)),
			Hint: "set -listen to an address of this pod whose port is free, such as :8086",
		}
	}
	return serve(ctx, b, plain, log)
}

// serve answers on a listener until ctx is done.
func serve(ctx context.Context, b target, plain net.Listener, log io.Writer) error {
	printLines(log, append(b.Notes, fmt.Sprintf("listening on %v, asking %q", plain.Addr(), b.Options.Addr)))
	var kept lean.Kept
	defer kept.Close()
	h := newHandler(b, newQuestions(b, &kept, log))
	server := newServer(h, log)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(newListener(plain)) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serving on %q: %w", b.Listen, err)
	case <-ctx.Done():
	}
	close(h.stopping)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastAnswers)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		return server.Close()
	}
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

// Bounds of one caller.
const (
	// headTimeout is for the head of a request, and bodyTimeout for a request as a whole.
	headTimeout, bodyTimeout = 5 * time.Second, 5 * time.Second
	// idleTimeout ends a connection without a request.
	idleTimeout = time.Minute
	// writeTimeout is for taking an answer.
	writeTimeout = 10 * time.Second
	// pingAfter ends a connection on which nothing comes for that long, twice.
	pingAfter = 15 * time.Second
	// maxHead is the greatest size of a request's head, in bytes.
	maxHead = 8 << 10
	// maxStreams is how many requests a connection may have at once.
	maxStreams = 8
	// window is the number of bytes that a connection may send unread: HTTP/2's default, and its least (RFC 9113
	// section 6.9.2).
	window = 1<<16 - 1
	// tableSize is that of HPACK's tables: the protocol's default.
	tableSize = 4 << 10
	// frameSize is the greatest size of a frame: the protocol's least.
	frameSize = 16 << 10
)

// newServer returns the server for HTTP/1.1, and for HTTP/2 without TLS, which is what gRPC callers speak.
func newServer(h http.Handler, log io.Writer) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler: h, Protocols: protocols, ErrorLog: newErrorLog(log),
		ReadHeaderTimeout: headTimeout, ReadTimeout: bodyTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHead,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxStreams, MaxReadFrameSize: frameSize,
			MaxReceiveBufferPerConnection: window, MaxReceiveBufferPerStream: window,
			MaxDecoderHeaderTableSize: tableSize, MaxEncoderHeaderTableSize: tableSize,
			SendPingTimeout: pingAfter, PingTimeout: pingAfter, WriteByteTimeout: writeTimeout,
		},
	}
}
