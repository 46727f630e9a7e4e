package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
)

// explainDial turns the error of a transport's Dial into the outcome, with the
// cause in place of its path through the libraries.
func explainDial(o *Options, err error) error {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	failed, ok := errors.AsType[*DialError](err)
	if !ok {
		failed = &DialError{Step: StepConnect, Err: err}
	}
	f := dialCause(o, failed)
	f.Err = fmt.Errorf("connecting to %q: %w", o.addr, f.Err)
	return f
}

// because is a failure to connect.
func because(cause error, hint string) *Failure {
	return &Failure{Code: ExitConnection, Err: cause, Hint: hint}
}

// dialCause finds the cause of a failed connection and what to do about it.
func dialCause(o *Options, e *DialError) *Failure {
	if isTimeout(e.Err) {
		return timeoutCause(o, e.Step)
	}
	if lookup, ok := errors.AsType[*net.DNSError](e.Err); ok {
		return because(fmt.Errorf("looking up %q: %s", lookup.Name, lookup.Err), "check the host in -addr; the probe runs beside its server, where localhost is enough")
	}
	switch e.Step {
	case StepTLS:
		f := tlsCause(o, e.Err)
		if o.SPIFFE {
			f.Hint = "-spiffe needs a server with an identity of a trust domain that the Workload API vouches for"
		}
		return f
	case StepSettings:
		return answerCause(o, e)
	}
	return socketCause(e.Err)
}

func isTimeout(err error) bool {
	failed, ok := errors.AsType[net.Error](err)
	return errors.Is(err, context.DeadlineExceeded) || ok && failed.Timeout()
}

func timeoutCause(o *Options, step Step) *Failure {
	hint := "raise -connect-timeout if the server is slow to accept"
	if step == StepSettings && !o.TLS {
		hint = "is that the gRPC port, and without TLS? If so, raise -connect-timeout"
	}
	return because(fmt.Errorf("waited %v for %s", o.ConnectTimeout, step), hint)
}

// socketCause is for the connect of TCP and unix sockets.
func socketCause(err error) *Failure {
	cause := innermost(err)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return because(cause, "nothing listens there: is the server up, and is this the address of its gRPC port?")
	case errors.Is(err, os.ErrNotExist):
		return because(cause, "there is no such socket: is the server up, and its folder mounted here?")
	case errors.Is(err, os.ErrPermission):
		return because(cause, "the probe's user may not use the socket")
	}
	return because(cause, "")
}

// innermost drops what package net and os wrap around an error of the kernel:
// operation and address are in the message around it.
func innermost(err error) error {
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		return failed.Err
	}
	return err
}

// answerCause is for a connection that stands, on which no HTTP/2 was spoken.
func answerCause(o *Options, e *DialError) *Failure {
	answer := string(e.Answer)
	switch {
	case strings.HasPrefix(answer, "HTTP/1."):
		return because(errors.New("the server speaks HTTP/1.1, not HTTP/2"), "name the gRPC port with -addr; an HTTPS port answers so too, unless -tls is set")
	case strings.HasPrefix(answer, "\x15\x03") && !o.TLS:
		return because(errors.New("the server speaks TLS"), "add -tls")
	case answer != "":
		return because(errors.New("the server's first bytes are not an HTTP/2 SETTINGS frame"), "name the gRPC port with -addr")
	case isRemoteAlert(e.Err):
		return tlsCause(o, e.Err)
	case o.TLS || o.ALTS || o.SPIFFE:
		return because(closedCause(e.Err), "is this the gRPC port of the server?")
	}
	return because(closedCause(e.Err), "a server that speaks TLS does so: if it is one, add -tls")
}

// closedCause has one wording for the two ways in which a peer hangs up: which
// of them is seen depends on timing.
func closedCause(err error) error {
	if isHangup(err) {
		return errors.New("the server closed the connection before its HTTP/2 SETTINGS frame")
	}
	return innermost(err)
}

func isHangup(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
