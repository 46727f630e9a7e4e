package grpcgo

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"

	"google.golang.org/grpc/credentials"

	"github.com/grpc-cnb/health-probe/probe"
)

// attempt makes the one connection of a probe and remembers how far it came
// and why it ended: grpc-go keeps of that only a text inside a later error. It
// serves grpc-go as the dialer, as the credentials (around the real ones), and
// as a watch on what is read before the connection is ready.
type attempt struct {
	credentials.TransportCredentials
	options   *probe.Options
	handshake probe.Step // what TransportCredentials do

	mu     sync.Mutex
	step   probe.Step
	err    error
	answer []byte
}

// maxAnswer is how many bytes of the server's first words are kept: enough to
// tell protocols apart.
const maxAnswer = 16

// dial is grpc-go's context dialer. It tries the addresses in turn, and reports
// the failure of the first if none answers.
func (a *attempt) dial(ctx context.Context, _ string) (net.Conn, error) {
	dialer := net.Dialer{ControlContext: func(context.Context, string, string, syscall.RawConn) error {
		a.connecting()
		return nil
	}}
	for _, address := range a.options.Address.Dial {
		conn, err := dialer.DialContext(ctx, a.options.Address.Network, address)
		if err == nil {
			return conn, nil
		}
		a.record(err)
	}
	return nil, a.failure()
}

// ClientHandshake implements credentials.TransportCredentials.
func (a *attempt) ClientHandshake(ctx context.Context, _ string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	a.enter(a.handshake)
	conn, info, err := a.TransportCredentials.ClientHandshake(ctx, a.options.ServerName(), raw)
	if err != nil {
		a.record(err)
		return nil, nil, err
	}
	a.enter(probe.StepSettings)
	return &watched{Conn: conn, attempt: a}, info, nil
}

// Info implements credentials.TransportCredentials. Without a server name
// there, grpc-go takes the authority it is given.
func (a *attempt) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: a.TransportCredentials.Info().SecurityProtocol}
}

// Clone implements credentials.TransportCredentials: the attempt is one.
func (a *attempt) Clone() credentials.TransportCredentials { return a }

// connecting ends the lookup of a name: there is an address.
func (a *attempt) connecting() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.step = probe.StepConnect
}

// enter begins a step, with what went wrong in an earlier one forgiven.
func (a *attempt) enter(step probe.Step) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.step, a.err = step, nil
}

// record keeps the first error of a step.
func (a *attempt) record(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil {
		a.err = err
	}
}

// hear keeps what was read and fails if it cannot be HTTP/2: a SETTINGS frame
// begins with three bytes of length, which is at most 16 KiB (RFC 9113 section
// 4.2), so with a zero. Otherwise a server that waits after a few bytes would
// be waited for.
func (a *attempt) hear(data []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answer = append(a.answer, data[:min(len(data), maxAnswer-len(a.answer))]...)
	if len(a.answer) > 0 && a.answer[0] != 0 {
		return errNotSettings
	}
	return nil
}

// errNotSettings is for a server that talks, but no HTTP/2.
var errNotSettings = errors.New("unexpected answer")

func (a *attempt) failure() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.err
	if err == nil {
		err = errNotSettings
	}
	return &probe.DialError{Step: a.step, Err: err, Answer: a.answer}
}

// expired is the failure of an attempt that was not over when its context
// ended.
func (a *attempt) expired(err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return &probe.DialError{Step: a.step, Err: err, Answer: a.answer}
}

// watched is a connection whose reads are remembered.
type watched struct {
	net.Conn
	attempt *attempt
}

// Read implements net.Conn.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if foreign := w.attempt.hear(p[:n]); foreign != nil {
		err = foreign
	}
	if err != nil {
		w.attempt.record(err)
	}
	return n, err
}

// Write implements net.Conn. It leaves a failure to Read: a peer that hangs up
// has often said why just before, and grpc-go would stop reading.
func (w *watched) Write(p []byte) (int, error) {
	if _, err := w.Conn.Write(p); err != nil && errors.Is(err, net.ErrClosed) {
		return 0, err
	}
	return len(p), nil
}
