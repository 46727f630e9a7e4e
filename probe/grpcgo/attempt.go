package grpcgo

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"syscall"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/options"
)

// attempt makes the connection of a probe, and a second connection if the server has closed the first without having
// processed a call. The attempt remembers the last step and the cause of the end; grpc-go keeps only a text inside a
// later error. The attempt is grpc-go's dialer and credentials (a wrapper of the real credentials), and reads along.
type attempt struct {
	credentials.TransportCredentials
	options   *options.Options
	handshake check.Step // handshake of TransportCredentials

	mu       sync.Mutex
	changed  sync.Cond // a call is made, or needs no connection any more, or a connection is closed
	calls    []*call
	dials    int
	step     check.Step
	err      error
	observer *observer           // of the newest connection
	lost     bool                // the server has closed the previous connection without a word
	leaving  string              // why the previous connection has ended
	codes    map[codes.Code]bool // codes with which the server has ended calls
}

// maxDials is the greatest number of connections.
const maxDials = 2

// errNoThird is not shown: the cause of the earlier closures is.
var errNoThird = errors.New("server closes every connection")

func newAttempt(o *options.Options, creds credentials.TransportCredentials, handshake check.Step) *attempt {
	a := &attempt{
		TransportCredentials: creds, options: o, handshake: handshake, step: check.StepLookup,
		codes: map[codes.Code]bool{},
	}
	a.changed.L = &a.mu
	return a
}

// dial is grpc-go's context dialer. Endpoints are tried one after another. If none answers, dial returns the error of
// the first endpoint.
func (a *attempt) dial(ctx context.Context, _ string) (net.Conn, error) {
	if !a.begin() {
		return nil, errNoThird
	}
	dialer := net.Dialer{
		KeepAliveConfig: check.KeepAlive,
		ControlContext: func(context.Context, string, string, syscall.RawConn) error {
			a.connecting()
			return nil
		},
	}
	for _, endpoint := range a.options.Address.Endpoints {
		conn, err := dialEndpoint(ctx, &dialer, endpoint)
		if err == nil {
			return conn, nil
		}
		a.record(err)
	}
	return nil, a.failure()
}

func dialEndpoint(ctx context.Context, dialer *net.Dialer, endpoint address.Endpoint) (net.Conn, error) {
	if ip, ok := endpoint.(address.IPEndpoint); ok {
		if _, err := check.Zone(ip); err != nil {
			return nil, err
		}
	}
	network, addr := netAddress(endpoint)
	conn, err := dialer.DialContext(ctx, network, addr)
	if err == nil && network == "tcp" && conn.LocalAddr().String() == conn.RemoteAddr().String() {
		// Nobody listens, and the kernel has picked the same port for the probe's own end.
		_ = conn.Close()
		err = syscall.ECONNREFUSED
	}
	return conn, err
}

// begin begins a connection, and returns false at the limit.
func (a *attempt) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dials == maxDials {
		return false
	}
	a.dials++
	if a.dials > 1 {
		a.leaving, a.lost = check.HangupReason, a.observer.goAway == nil && check.IsHangup(a.err)
		if a.observer.goAway != nil {
			a.leaving = a.observer.goAway.Error()
		}
	}
	a.step, a.err, a.observer = check.StepLookup, nil, newObserver(a.codes)
	return true
}

// netAddress returns an endpoint in the form for package net. Dialer.DialTCP would take an IP address, but first binds
// the connection to a local port, and the machine may have no port left.
func netAddress(endpoint address.Endpoint) (network, addr string) {
	switch endpoint := endpoint.(type) {
	case address.IPEndpoint:
		return "tcp", netip.AddrPort(endpoint).String()
	case address.HostEndpoint:
		return "tcp", net.JoinHostPort(endpoint.Host, strconv.Itoa(int(endpoint.Port)))
	case address.UnixEndpoint:
		return "unix", string(endpoint)
	}
	return "", ""
}

// ClientHandshake implements credentials.TransportCredentials.
func (a *attempt) ClientHandshake(ctx context.Context, _ string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	a.enter(a.handshake)
	conn, info, err := a.TransportCredentials.ClientHandshake(ctx, a.options.ServerName(), raw)
	if err != nil {
		a.record(err)
		return nil, nil, err
	}
	a.enter(check.StepSettings)
	return &watched{Conn: conn, attempt: a, number: a.dials, observer: a.observer}, info, nil
}

// Info implements credentials.TransportCredentials. The server name is left out, so that grpc-go uses the given
// authority.
func (a *attempt) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: a.TransportCredentials.Info().SecurityProtocol}
}

// Clone implements credentials.TransportCredentials. Clone makes no copy, because there is only one attempt.
func (a *attempt) Clone() credentials.TransportCredentials { return a }

// connecting ends the step of name lookup: an address to connect to is known.
func (a *attempt) connecting() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.step = check.StepConnect
}

// enter begins a step, and forgets the errors of earlier steps.
func (a *attempt) enter(step check.Step) {
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

func (a *attempt) failure() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.err
	if err == nil && a.observer.begun {
		err = errBadSettings
	} else if err == nil {
		err = errNotSettings
	}
	return a.dialError(err)
}

// expired returns the failure of an attempt that was incomplete at the end of the context.
func (a *attempt) expired(err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.dialError(err)
}

func (a *attempt) dialError(err error) error {
	failed := &check.DialError{Step: a.step, Err: err}
	if a.observer != nil && !a.observer.begun && a.observer.goAway == nil {
		failed.Answer = a.observer.first
	}
	return failed
}

// isLost reports whether the server has closed the first connection without a word.
func (a *attempt) isLost() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lost || a.dials == 1 && a.observer.goAway == nil && check.IsHangup(a.err)
}

// isSettled reports whether the server's SETTINGS frame has come, even if the connection is closed by now.
func (a *attempt) isSettled() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.step == check.StepSettings && a.observer.begun
}

// hasSent reports whether the server has ended a call with the code.
func (a *attempt) hasSent(code codes.Code) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.codes[code]
}

// reason returns why calls without an answer have failed, in the words of the other transport, or text if the attempt
// knows no more than grpc-go.
func (a *attempt) reason(text string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	number, isNumber := errors.AsType[syscall.Errno](a.err)
	switch {
	case a.observer.goAway != nil:
		return a.observer.goAway.Error()
	case a.dials > 1 && a.step != check.StepSettings && isNumber:
		return a.leaving + "; connecting again: " + number.Error()
	case a.dials > 1 && a.step != check.StepSettings && a.err != nil:
		return a.leaving + "; connecting again: " + a.err.Error()
	case check.IsHangup(a.err):
		return check.HangupReason
	case isNumber:
		return number.Error()
	}
	return text
}
