// Package lean is the probe's own transport: as much of HTTP/2 (RFC 9113) and of gRPC over HTTP/2 as a few health
// checks on one connection need. An exec probe starts a process every few seconds in every pod, so the package does
// little: no goroutine, no poller, no timer and no protocol buffers runtime, one write and, as a rule, one read.
//
//	Options --> socket --> (TLS) --> session of frames --> stream --> Status
//
// Begin with Transport. A session is the connection, a stream is one call on it.
package lean

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/check/rawfile"
)

// Transport is a [check.Transport] without ALTS and SPIFFE.
type Transport struct{}

// Dial implements [check.Transport]. The first call waits for the server's SETTINGS, and is sent in the same write as
// the client's SETTINGS. HTTP/2 allows an early call (RFC 9113 section 3.4), and the probe saves a round trip.
func (Transport) Dial(o *options.Options) (check.Conn, error) {
	if o.ALTS || o.SPIFFE {
		return nil, errNeedsFull
	}
	deadline := o.Budget.Connect()
	c, err := newConn(o, deadline)
	if err != nil {
		return nil, err
	}
	if err := c.connect(deadline); err != nil {
		return nil, err
	}
	return c, nil
}

var errNeedsFull = &outcome.Failure{
	Code: outcome.ExitUsage,
	Err:  errors.New("checking flags: this build of the probe has no -alts and no -spiffe"),
	Hint: "build the image with BP_GRPC_HEALTH_PROBE_VARIANT=full",
}

// conn implements [check.Conn] for the calls of one attempt.
type conn struct {
	calls
	config    *tls.Config // nil for plain text
	lasting   bool        // a call may last for ever
	sock      connection  // nil once closed
	session   *session
	connectBy time.Time
	// adopt makes another connection of the socket; nil keeps the socket.
	adopt func(*socket) (connection, error)
}

// connection is the part of a socket for TLS and HTTP/2.
type connection interface {
	net.Conn
	keepAlive()
}

// newConn returns an unconnected conn, and reads the files for TLS by the deadline. The error is a *[outcome.Failure].
func newConn(o *options.Options, deadline time.Time) (*conn, error) {
	c := &conn{calls: calls{options: o}}
	c.run = c.runAlone
	if o.TLS {
		var err error
		if c.config, err = check.TLSConfig(o, deadline); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// connect makes the connection and does the TLS handshake, by the deadline.
func (c *conn) connect(deadline time.Time) error {
	sock, err := dial(c.options.Address, deadline)
	if err != nil {
		return &check.DialError{Step: check.StepConnect, Err: err}
	}
	c.sock, c.connectBy = sock, deadline
	if c.adopt != nil {
		if c.sock, err = c.adopt(sock); err != nil {
			c.sock = nil
			return &check.DialError{Step: check.StepConnect, Err: err}
		}
	}
	if err := c.sock.SetDeadline(deadline); err != nil {
		return &check.DialError{Step: check.StepConnect, Err: err}
	}
	if err := c.handshake(); err != nil {
		_ = c.Close() // the cause is what counts
		return err
	}
	if c.lasting {
		c.sock.keepAlive()
	}
	return nil
}

// handshake does the TLS handshake, if TLS is on. Package crypto/rand starts the poller of Go's runtime, which takes
// two descriptors.
func (c *conn) handshake() error {
	if c.config == nil {
		c.session = newSession(c.sock)
		return nil
	}
	if err := rawfile.CheckDescriptors(2); err != nil {
		return &check.DialError{Step: check.StepConnect, Err: err}
	}
	secure := tls.Client(c.sock, c.config)
	if err := secure.Handshake(); err != nil {
		return &check.DialError{Step: check.StepTLS, Err: deadlineError(err)}
	}
	c.session = newSession(secure)
	return nil
}

// Settle implements [check.Conn]. Queued calls are sent with the client's SETTINGS.
func (c *conn) Settle() error {
	s := c.session
	if s.settled {
		return nil
	}
	if err := c.sock.SetDeadline(c.connectBy); err != nil {
		return &check.DialError{Step: check.StepSettings, Err: err}
	}
	if err := s.run(func() bool { return s.settled }); err != nil {
		return &check.DialError{Step: check.StepSettings, Err: deadlineError(err), Answer: s.notHTTP2()}
	}
	return nil
}

// Close implements [check.Conn].
func (c *conn) Close() error {
	if c.sock == nil {
		return nil
	}
	sock := c.sock
	c.sock = nil
	return sock.Close()
}

// deadlineError returns context.DeadlineExceeded for a deadline that crypto/tls has wrapped, and io.ErrUnexpectedEOF
// for io.EOF.
func deadlineError(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return context.DeadlineExceeded
	}
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
