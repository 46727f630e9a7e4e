// Package lean is the probe's own transport: enough of HTTP/2 (RFC 9113) and of gRPC over it for a handful of health
// checks on one connection, and nothing else. An exec probe is a process every few seconds in every pod, so what counts
// is what is not done: no goroutine, no poller, no timer, no protocol buffers runtime, one write, and as a rule one read.
//
//	Options --> socket --> (TLS) --> session of frames --> stream --> Status
//
// Begin with Transport; session is the connection, stream is one call on it.
package lean

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"os"
	"time"

	"github.com/grpc-cnb/health-probe/probe"
)

// Transport is a [probe.Transport]. It cannot do ALTS and SPIFFE.
type Transport struct{}

// Dial implements [probe.Transport]. It leaves waiting for the server's SETTINGS to the first call, which is sent in the
// same write as the client's own: HTTP/2 allows it (RFC 9113, section 3.4), and it saves a round trip. Of ctx only the
// deadline counts: the kernel keeps it, and nothing else could interrupt a blocking socket.
func (Transport) Dial(ctx context.Context, o *probe.Options) (probe.Conn, error) {
	if o.ALTS || o.SPIFFE {
		return nil, errNeedsFull
	}
	var config *tls.Config
	if o.TLS {
		var err error
		if config, err = o.TLSConfig(); err != nil {
			return nil, err
		}
	}
	connectBy := earlier(ctx, o.ConnectTimeout)
	sock, err := dial(ctx, o.Address, connectBy)
	if err != nil {
		return nil, &probe.DialError{Step: probe.StepConnect, Err: err}
	}
	c := &conn{options: o, sock: sock, connectBy: connectBy}
	if err := c.handshake(config); err != nil {
		sock.Close()
		return nil, err
	}
	return c, nil
}

var errNeedsFull = &probe.Failure{
	Code: probe.ExitUsage,
	Err:  errors.New("checking flags: this build of the probe has no -alts and no -spiffe"),
	Hint: "build the image with BP_GRPC_HEALTH_PROBE_VARIANT=full",
}

// earlier returns the time after d, or the deadline of ctx where that comes first; zero, for never, where d is zero and
// ctx has none.
func earlier(ctx context.Context, d time.Duration) time.Time {
	deadline, _ := ctx.Deadline()
	if d == 0 {
		return deadline
	}
	if t := time.Now().Add(d); deadline.IsZero() || t.Before(deadline) {
		return t
	}
	return deadline
}

// conn is a [probe.Conn].
type conn struct {
	options   *probe.Options
	sock      *socket
	session   *session
	connectBy time.Time
}

// handshake does that of TLS, unless config is nil.
func (c *conn) handshake(config *tls.Config) error {
	if config == nil {
		c.session = newSession(c.sock)
		return nil
	}
	secure := tls.Client(c.sock, config)
	if err := secure.Handshake(); err != nil {
		return &probe.DialError{Step: probe.StepTLS, Err: deadlineError(err)}
	}
	c.session = newSession(secure)
	return nil
}

// Settle implements [probe.Conn]. What is queued is sent with the client's SETTINGS.
func (c *conn) Settle(context.Context) error {
	s := c.session
	if s.settled {
		return nil
	}
	c.sock.deadline = c.connectBy
	if err := s.run(func() bool { return s.settled }); err != nil {
		return &probe.DialError{Step: probe.StepSettings, Err: deadlineError(err), Answer: s.foreignWords()}
	}
	return nil
}

// Close implements [probe.Conn].
func (c *conn) Close() error { return c.sock.Close() }

// deadlineError takes the deadline out of what crypto/tls wraps around it.
func deadlineError(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return context.DeadlineExceeded
	}
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
