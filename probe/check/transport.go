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
	// Dial makes a connection: Dial looks up names, connects by TCP or to a unix socket, and does the TLS handshake.
	// Waiting for the server's HTTP/2 SETTINGS frame may be left to Settle or to the first call. Dial gives up at the
	// deadline of o.Budget.Connect, and as soon as an attempt has failed. The error is a *[DialError], or a
	// *[outcome.Failure] if the transport knows the outcome itself. With -mode=live the error is an *[AcceptedError] if
	// the server accepts connections and the probe has no credentials to ask with.
	Dial(o *options.Options) (Conn, error)
}

// Conn is a connection, good for many calls. A Conn keeps the options of Dial, whose Budget sets every deadline:
// nothing in a probe is cancelled before its deadline.
type Conn interface {
	// Settle waits for the server's SETTINGS frame until the deadline of Dial. The error is a *[DialError].
	Settle() error
	// Check calls grpc.health.v1.Health/Check for all services at once, the empty name being the whole server, and
	// returns an answer for each service, in order. All calls have the deadline of Budget.Call.
	Check(services []string) []outcome.Answer
	// List calls Health/List and returns the statuses by service, within the deadline of Budget.Call. The error is a
	// *[outcome.RPCError], or a *[DialError] if the connection proved unusable.
	List() (map[string]outcome.Status, error)
	// Watch calls Health/Watch for one service and hands each status to receive, until Budget.End or the end of the
	// call. The error says why the call ended, with the same types as the error of List.
	Watch(service string, receive func(outcome.Status)) error
	// Close ends the connection.
	Close() error
}

// MaxMessage is the greatest size of a response, in bytes, after decompression. The answer of a health service has a
// few bytes.
const MaxMessage = 64 << 10

// Step is a part of making a connection. The text completes "waited for".
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
	// Step is the step that failed.
	Step Step
	// Err is the cause: from package net, crypto/tls or context.
	Err error
	// Answer holds the first bytes, if any, that came in StepSettings.
	Answer []byte
}

// AcceptedError is the error of a connection accepted by the server but useless to the probe for lack of credentials.
// The server is not at fault, and a restart would bring no credentials.
type AcceptedError struct {
	// Err names the missing credentials.
	Err error
}

// Error names the missing credentials.
func (e *AcceptedError) Error() string { return fmt.Sprintf("the server was not asked: %v", e.Err) }

// KeepAlive lets the kernel ask the peer of a Watch for a sign of life (tcp(7)): the loss of a peer, with its machine
// or the way there, is noticed after a minute.
var KeepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 15 * time.Second, Count: 3}

// HangupReason is the message of a call whose connection the server has closed.
const HangupReason = "server closed the connection before the call ended"

// GoAwayError is the error of a connection that the server is closing (RFC 9113 section 6.8).
type GoAwayError struct {
	// Code is the HTTP/2 error code; 0 is none.
	Code uint32
	// Debug is the server's text for users, if any. The server chooses the text, so the text is untrusted.
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
