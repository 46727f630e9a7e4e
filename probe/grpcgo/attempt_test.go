package grpcgo

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// refused is the error of package net for a port on which nobody listens.
var refused = &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}

// The reason of a call that was not answered is the server's, in the words of the other transport.
func TestReasonOfACallThatWasNotAnswered(t *testing.T) {
	t.Parallel()
	bye := &check.GoAwayError{Debug: "bye"}
	for name, test := range map[string]struct {
		goAway *check.GoAwayError // on the first connection
		again  bool               // there was a second connection
		step   check.Step
		err    error
		want   string
	}{
		"it says goodbye":          {goAway: bye, want: bye.Error()},
		"it hangs up":              {err: io.EOF, want: check.HangupReason},
		"it hangs up in a frame":   {err: io.ErrUnexpectedEOF, want: check.HangupReason},
		"it resets the connection": {err: syscall.ECONNRESET, want: check.HangupReason},
		"it reads no more":         {err: syscall.EPIPE, want: check.HangupReason},
		"the network is away":      {err: syscall.EHOSTUNREACH, want: "no route to host"},
		"another error":            {err: errors.New("x"), want: "text"},
		"no error":                 {want: "text"},
		"it says goodbye and stops": {
			bye, true, check.StepConnect, refused, bye.Error() + "; connecting again: connection refused",
		},
		"it hangs up and stops": {
			nil, true, check.StepConnect, refused, check.HangupReason + "; connecting again: connection refused",
		},
		"it breaks off the handshake": {
			bye, true, check.StepTLS, io.EOF, bye.Error() + "; connecting again: EOF",
		},
		"it hangs up twice": {bye, true, check.StepSettings, io.EOF, check.HangupReason},
	} {
		a := newAttempt(nil, nil, check.StepTLS)
		a.begin()
		a.observer.goAway = test.goAway
		if test.again {
			a.begin()
		}
		a.step, a.err = test.step, test.err
		if got := a.reason("text"); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestThirdConnectionIsNotMade(t *testing.T) {
	t.Parallel()
	a := newAttempt(nil, nil, check.StepTLS)
	for number, want := range []bool{true, true, false} {
		if got := a.begin(); got != want {
			t.Errorf("connection %d is made: %t", number+1, got)
		}
	}
	if _, err := a.dial(t.Context(), ""); !errors.Is(err, errNoThird) {
		t.Errorf("one more fails with %v", err)
	}
}

// grpc-go says io.EOF for a stream that has ended well, and for one whose connection was lost while it was asked.
func TestStreamThatEnds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		answered bool
		want     outcome.RPCError
	}{
		{false, outcome.RPCError{Code: outcome.Code(codes.Unavailable), Message: check.HangupReason}},
		{true, outcome.RPCError{
			Code: outcome.Code(codes.Unavailable), Message: "server ended the watch", Answered: true,
		}},
	} {
		a := newAttempt(nil, nil, check.StepTLS)
		a.begin()
		ctx := a.expect(context.Background())
		a.update(ctx, func(c *call) { c.trailers = test.answered })
		err := (&conn{attempt: a}).rpcError(ctx, io.EOF)
		if got, ok := errors.AsType[*outcome.RPCError](err); !ok || *got != test.want {
			t.Errorf("with an answer %t: %v, want %v", test.answered, err, &test.want)
		}
	}
}
