package check

import (
	"fmt"
	"net"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/http2"
)

// Transport opens connections to a gRPC server.
type Transport interface {
	// Dial makes a connection: it looks up names, connects by TCP or to a unix socket, and does the TLS handshake. It
	// may leave waiting for the server's HTTP/2 SETTINGS frame to Settle or to the first call. It gives up at the
	// deadline that o.Budget.Connect gives, and as soon as an attempt has failed. The error is a *[DialError], or a
	// *[outcome.Failure] if the transport knows the outcome itself. With -mode=live it is an *[AcceptedError] if the
	// server accepts connections and the probe has no credentials to ask with.
	Dial(o *options.Options) (Conn, error)
}

// Conn is a connection, good for many calls. It keeps the options of Dial, whose Budget gives it every deadline:
// nothing in a probe is cancelled before its deadline.
type Conn interface {
	// Settle waits until the server's SETTINGS frame has come, until the deadline that Dial had. The error is a
	// *[DialError].
	Settle() error
	// Check calls grpc.health.v1.Health/Check for all services at once, the empty name being the whole server. It
	// returns an answer for each service, in their order. All have the deadline that Budget.Call gives.
	Check(services []string) []outcome.Answer
	// List calls Health/List and returns the statuses by service, within the deadline that Budget.Call gives. The error
	// is a *[outcome.RPCError], or a *[DialError] if the connection proved unusable.
	List() (map[string]outcome.Status, error)
	// Watch calls Health/Watch for one service and hands each status to receive, until Budget.End or the end of the
	// call. The error says why the call ended, as that of List does.
	Watch(service string, receive func(outcome.Status)) error
	// Close ends the connection.
	Close() error
}

// MaxMessage is the greatest size of a response, in bytes, after decompression. The answer of a health service has a
// few bytes.
const MaxMessage = 64 << 10

// Step is a part of making a connection. Its text is the phrase for what is being waited for.
type Step string

// The steps of a connection in their order.
const (
	StepLookup   Step = "the name lookup"
	StepConnect  Step = "the connection"
	StepTLS      Step = "the TLS handshake"
	StepALTS     Step = "the ALTS handshake"
	StepSettings Step = "the server's HTTP/2 SETTINGS frame"
)

// DialError is the error of a connection that did not become usable.
type DialError struct {
	// Step is where it ended.
	Step Step
	// Err is the cause: from package net, crypto/tls or context.
	Err error
	// Answer holds the first bytes, if any, that came in StepSettings.
	Answer []byte
}

// AcceptedError is the error of a connection that a server has accepted, and that the probe cannot use for lack of
// credentials. That is no fault of the server, and a restart would bring none.
type AcceptedError struct {
	// Err says which credentials the probe lacks.
	Err error
}

// Error says which credentials the probe lacks.
func (e *AcceptedError) Error() string { return fmt.Sprintf("the server was not asked: %v", e.Err) }

// KeepAlive is how the kernel asks a peer with which a Watch is open whether it is still there (tcp(7)): a peer that is
// gone, with its machine or the way there, is noticed after a minute.
var KeepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 15 * time.Second, Count: 3}

// HangupReason is the message of a call whose connection the server has closed.
const HangupReason = "server closed the connection before the call ended"

// GoAwayError is the error of a connection that the server is closing (RFC 9113 section 6.8).
type GoAwayError struct {
	// Code is the HTTP/2 error code; 0 is none.
	Code uint32
	// Debug is the server's text for users, if any. The server chooses it, so it cannot be trusted.
	Debug string
}

// Error returns the code and the text.
func (g *GoAwayError) Error() string {
	text := fmt.Sprintf("server is closing the connection (GOAWAY, error code %s)", http2.CodeName(g.Code))
	if g.Debug != "" {
		text += fmt.Sprintf(": %q", g.Debug)
	}
	return text
}

// Error returns the step and the cause.
func (e *DialError) Error() string { return fmt.Sprintf("waiting for %s: %v", e.Step, e.Err) }

// Unwrap returns the cause.
func (e *DialError) Unwrap() error { return e.Err }
