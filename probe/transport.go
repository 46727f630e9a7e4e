package probe

import (
	"context"
	"fmt"
	"strconv"
)

// Transport opens connections to a gRPC server.
type Transport interface {
	// Dial makes a connection: names looked up, TCP or unix connected and TLS
	// done. It may leave waiting for the server's HTTP/2 SETTINGS frame to
	// Settle or to the first call. It gives up after o.ConnectTimeout, or at the
	// deadline of ctx, and as soon as an attempt has failed. The error is a
	// *[DialError], or a *[Failure] where the transport knows the outcome itself.
	Dial(ctx context.Context, o *Options) (Conn, error)
}

// Conn is one connection, good for many calls. It keeps the options it was
// dialled with. Of a context that it is given only the deadline counts: nothing
// in a probe cancels one.
type Conn interface {
	// Settle waits until the server's SETTINGS frame has come, within what is
	// left of Options.ConnectTimeout. The error is a *[DialError].
	Settle(ctx context.Context) error
	// Check calls grpc.health.v1.Health/Check for all services at once, the empty
	// name being the whole server, and returns an answer for each, in their
	// order, each within Options.RPCTimeout.
	Check(ctx context.Context, services []string) []Answer
	// List calls Health/List and returns the statuses by service. The error is a
	// *[RPCError], or a *[DialError] where the connection proved unusable.
	List(ctx context.Context) (map[string]Status, error)
	// Watch calls Health/Watch for one service and hands each status to receive,
	// until the deadline of ctx or the end of the call; the error says why, as
	// List's does.
	Watch(ctx context.Context, service string, receive func(Status)) error
	// Close ends the connection.
	Close() error
}

// Answer is what one call of Check brought: a status, or an error, which is a
// *[RPCError], or a *[DialError] where the connection proved unusable.
type Answer struct {
	Service string
	Status  Status
	Err     error
}

// MaxMessage bounds a response in bytes, after decompression. A health answer
// is a few bytes; what is bigger is no health answer.
const MaxMessage = 64 << 10

// Status is grpc.health.v1.HealthCheckResponse.ServingStatus.
type Status int32

// The values of ServingStatus, from grpc/health/v1/health.proto.
const (
	StatusUnknown        Status = 0
	StatusServing        Status = 1
	StatusNotServing     Status = 2
	StatusServiceUnknown Status = 3
)

// String returns the name in health.proto, or the number where it has none.
func (s Status) String() string {
	switch s {
	case StatusUnknown:
		return "UNKNOWN"
	case StatusServing:
		return "SERVING"
	case StatusNotServing:
		return "NOT_SERVING"
	case StatusServiceUnknown:
		return "SERVICE_UNKNOWN"
	}
	return strconv.Itoa(int(s))
}

// Step is a part of making a connection, as a phrase for messages: what is
// being waited for.
type Step string

// The steps of a connection in their order.
const (
	StepLookup   Step = "the name lookup"
	StepConnect  Step = "the connection"
	StepTLS      Step = "the TLS handshake"
	StepALTS     Step = "the ALTS handshake"
	StepSettings Step = "the server's HTTP/2 SETTINGS frame"
)

// DialError is a connection that did not become usable.
type DialError struct {
	// Step is where it ended.
	Step Step
	// Err is the cause: from package net, crypto/tls or context.
	Err error
	// Answer holds the first bytes, if any, that came in StepSettings.
	Answer []byte
}

// Error returns the step and the cause.
func (e *DialError) Error() string { return fmt.Sprintf("waiting for %s: %v", e.Step, e.Err) }

// Unwrap returns the cause.
func (e *DialError) Unwrap() error { return e.Err }
