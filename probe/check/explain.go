package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/grpc-cnb/health-probe/probe/check/metadata"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/check/rawfile"
	"github.com/grpc-cnb/health-probe/probe/sockets"
)

// explainDial turns the error of a connection into the outcome of the probe, with the cause and without the wrapping of
// libraries.
func explainDial(o *options.Options, err error) error {
	if f, ok := errors.AsType[*outcome.Failure](err); ok {
		return f
	}
	failed, ok := errors.AsType[*DialError](err)
	if !ok {
		failed = &DialError{Step: StepConnect, Err: err}
	}
	f := dialCause(o, failed)
	if leaving, ok := errors.AsType[*GoAwayError](f.Err); ok {
		f.Err = &GoAwayError{Code: leaving.Code, Debug: metadata.Hide(leaving.Debug, o.Headers)}
	}
	f.Err = fmt.Errorf("connecting to %q: %w", o.Addr, f.Err)
	return f
}

// dialCause returns the cause of a failed connection with a hint.
func dialCause(o *options.Options, e *DialError) *outcome.Failure {
	lookup, isLookup := errors.AsType[*net.DNSError](e.Err)
	switch {
	case rawfile.IsOutOfDescriptors(e.Err):
		return socketCause(e.Err)
	case isTimeout(e.Err) && isLookup:
		return timeoutCause(o, StepLookup)
	case isTimeout(e.Err):
		return timeoutCause(o, e.Step)
	case isLookup:
		return outcome.NoConnection(outcome.ClassLookup,
			fmt.Errorf("looking up %q: %s", lookup.Name, lookup.Err), lookupHint)
	}
	switch e.Step {
	case StepALTS:
		return outcome.NoConnection(outcome.ClassTLS, Innermost(e.Err), "")
	case StepTLS:
		f := tlsCause(o, e.Err)
		if o.SPIFFE {
			f.Hint = "-spiffe needs a server with an identity of a trust domain that the Workload API vouches for"
		}
		return f
	case StepSettings:
		f := answerCause(o, e)
		f.Speaks = speech(e)
		return f
	}
	return socketCause(e.Err)
}

// speech returns the protocol of a server whose first bytes are not HTTP/2.
func speech(e *DialError) outcome.Protocol {
	if len(e.Answer) == 0 && !IsHangup(e.Err) {
		return ""
	}
	return sockets.Classify(e.Answer, true)
}

const lookupHint outcome.Hint = "check the host in -addr; for a server in the same pod or container, use localhost"

func isTimeout(err error) bool {
	failed, ok := errors.AsType[net.Error](err)
	return errors.Is(err, context.DeadlineExceeded) || ok && failed.Timeout()
}

func timeoutCause(o *options.Options, step Step) *outcome.Failure {
	hint := outcome.Hint("raise -connect-timeout if the server is slow to accept")
	switch {
	case step == StepLookup:
		hint = "does the name server answer? " + lookupHint
	case step == StepSettings && !o.TLS:
		hint = "is that the gRPC port, and without TLS? If so, raise -connect-timeout"
	}
	return waited(o, o.Budget.ConnectTimeout, string(step), hint)
}

func socketCause(err error) *outcome.Failure {
	cause := Innermost(err)
	var hint outcome.Hint
	switch {
	case rawfile.IsOutOfDescriptors(err):
		hint = outcome.OutOfDescriptors
	case errors.Is(err, syscall.ECONNREFUSED):
		hint = "nothing listens there: is the server up, and is this the address of its gRPC port?"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		hint = "there is no route to that address: check -addr; for a server in the same pod or container, " +
			"use localhost"
	case errors.Is(err, os.ErrNotExist):
		hint = "there is no such socket: is the server up, and is the socket's folder mounted here?"
	case errors.Is(err, os.ErrPermission):
		hint = "the probe's user may not use the socket"
	}
	return outcome.NoConnection(outcome.ClassConnect, cause, hint)
}

// Innermost removes the wrapping of packages net and os from an error of the kernel, for a message with the operation
// and the address.
func Innermost(err error) error {
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		return failed.Err
	}
	return err
}

// answerCause explains why there was no HTTP/2 on an open connection.
func answerCause(o *options.Options, e *DialError) *outcome.Failure {
	answer := string(e.Answer)
	switch {
	case strings.HasPrefix(answer, "HTTP/1."):
		hint := outcome.Hint("name the gRPC port with -addr")
		if !o.TLS {
			hint = "name the gRPC port with -addr; an HTTPS port answers like this too, unless -tls is set"
		}
		return outcome.NoConnection(outcome.ClassProtocol, errors.New("the server speaks HTTP/1.1, not HTTP/2"), hint)
	case strings.HasPrefix(answer, "\x15\x03") && !o.TLS:
		return outcome.NoConnection(outcome.ClassTLS, errors.New("the server speaks TLS"), "add -tls")
	case answer != "":
		return outcome.NoConnection(outcome.ClassProtocol,
			errors.New("the server's first bytes are not an HTTP/2 SETTINGS frame"), "name the gRPC port with -addr")
	case isRemoteAlert(e.Err):
		return tlsCause(o, e.Err)
	case !IsHangup(e.Err):
		return outcome.NoConnection(outcome.ClassProtocol, Innermost(e.Err), "is this the gRPC port of the server?")
	}
	// All ways in which a peer hangs up have the same message, because timing decides between them.
	closed := errors.New("the server closed the connection before its HTTP/2 SETTINGS frame")
	return outcome.NoConnection(outcome.ClassProtocol, closed, hangupHint(o))
}

func hangupHint(o *options.Options) outcome.Hint {
	switch {
	case o.TLS && o.WantsCert.Load() && o.TLSClientCert == "":
		// Servers of gRPC's C core (C++, Python, Ruby, PHP) send no alert for a missing certificate.
		return "the server may want a client certificate: set -tls-client-cert and -tls-client-key"
	case o.TLS && o.WantsCert.Load():
		return "does the server trust the CA of -tls-client-cert, and is that certificate valid?"
	case o.TLS, o.ALTS, o.SPIFFE:
		return "is this the gRPC port of the server?"
	}
	return "a server with TLS does that: if yours has TLS, add -tls"
}

// IsHangup reports whether err means that the server has closed the connection. Timing decides which error occurs.
func IsHangup(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE)
}
