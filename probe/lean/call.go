package lean

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/grpc-cnb/health-probe/probe"
)

// Check implements [probe.Conn].
func (c *conn) Check(ctx context.Context, services []string) []probe.Answer {
	answers := make([]probe.Answer, len(services))
	calls := make([]*stream, len(services))
	for i, service := range services {
		answer := &answers[i]
		answer.Service = service
		calls[i] = c.open("Check", service, c.options.RPCTimeout, func(message []byte) error {
			status, err := parseCheckResponse(message)
			answer.Status = probe.Status(status)
			return err
		})
	}
	err := c.run(ctx, c.options.RPCTimeout, calls...)
	for i, call := range calls {
		answers[i].Err = outcome(call, err)
	}
	return answers
}

// List implements [probe.Conn].
func (c *conn) List(ctx context.Context) (map[string]probe.Status, error) {
	statuses := map[string]probe.Status{}
	call := c.open("List", "", c.options.RPCTimeout, func(message []byte) error {
		return parseListResponse(message, func(service string, status int32) { statuses[service] = probe.Status(status) })
	})
	err := c.run(ctx, c.options.RPCTimeout, call)
	return statuses, outcome(call, err)
}

// Watch implements [probe.Conn].
func (c *conn) Watch(ctx context.Context, service string, receive func(probe.Status)) error {
	call := c.open("Watch", service, 0, func(message []byte) error {
		status, err := parseCheckResponse(message)
		if err == nil {
			receive(probe.Status(status))
		}
		return err
	})
	call.streams = true
	return outcome(call, c.run(ctx, 0, call))
}

// open queues a call of the health service for one service, the empty name being the whole server.
func (c *conn) open(method, service string, timeout time.Duration, receive func([]byte) error) *stream {
	message := envelope(appendCheckRequest(nil, service), c.options.GZIP)
	headers := c.requestHeaders(method, timeout)
	st := c.session.open(appendHeaders(nil, headers), message)
	st.size = headerListSize(headers)
	st.message = receive
	if timeout > 0 {
		st.expires = time.Now().Add(timeout)
	}
	return st
}

// run sends the calls and receives until all are over. The error is the connection's: calls that are not over then never
// will be.
func (c *conn) run(ctx context.Context, timeout time.Duration, calls ...*stream) error {
	if err := c.Settle(ctx); err != nil {
		return err
	}
	c.sock.deadline = earlier(ctx, timeout)
	return c.session.run(func() bool {
		for _, call := range calls {
			if !call.done {
				return false
			}
		}
		return true
	})
}

// outcome returns what a call ended with, nil for an answer, or why it did not end.
func outcome(call *stream, err error) error {
	switch {
	case !call.done && errors.Is(err, os.ErrDeadlineExceeded):
		return &probe.RPCError{Code: probe.CodeDeadlineExceeded, Message: "no answer within the timeout"}
	case !call.done:
		if unusable, ok := errors.AsType[*probe.DialError](err); ok {
			return unusable
		}
		return &probe.RPCError{Code: unavailable, Message: err.Error()}
	case call.code == canceled && !call.answered && call.expired():
		// The server has kept the deadline, and its clock was first.
		return &probe.RPCError{Code: probe.CodeDeadlineExceeded, Message: call.reason}
	case call.code != ok:
		return &probe.RPCError{Code: probe.Code(call.code), Message: call.reason, Answered: call.answered}
	case call.streams:
		return &probe.RPCError{Code: unavailable, Message: "server ended the watch", Answered: true}
	case call.messages != 1:
		return &probe.RPCError{Code: internal, Message: "server sent " + strconv.Itoa(call.messages) + " answers"}
	}
	return nil
}

// requestHeaders returns the headers of a call, in the order that gRPC over HTTP/2 gives them ("Requests").
func (c *conn) requestHeaders(method string, timeout time.Duration) []header {
	o := c.options
	scheme := "http"
	if o.TLS {
		scheme = "https"
	}
	headers := []header{
		{":method", "POST"},
		{":scheme", scheme},
		{":path", "/grpc.health.v1.Health/" + method},
		{":authority", o.Authority()},
		{"content-type", "application/grpc"},
		{"user-agent", o.UserAgent},
		{"te", "trailers"},
	}
	if timeout > 0 {
		headers = append(headers, header{"grpc-timeout", grpcTimeout(timeout)})
	}
	if o.GZIP {
		headers = append(headers, header{"grpc-encoding", "gzip"}, header{"grpc-accept-encoding", "gzip"})
	}
	for _, h := range o.Headers {
		if strings.HasSuffix(h.Name, "-bin") {
			h.Value = base64.RawStdEncoding.EncodeToString([]byte(h.Value))
		}
		headers = append(headers, header{h.Name, h.Value})
	}
	return headers
}

// grpcTimeout writes d, rounded up, as a TimeoutValue of at most eight digits with its unit (gRPC over HTTP/2, "Timeout").
func grpcTimeout(d time.Duration) string {
	size, unit := time.Microsecond, "u"
	for _, larger := range []struct {
		size time.Duration
		unit string
	}{{time.Millisecond, "m"}, {time.Second, "S"}, {time.Minute, "M"}, {time.Hour, "H"}} {
		if (d-1)/size < 1e8-1 {
			break
		}
		size, unit = larger.size, larger.unit
	}
	return strconv.FormatInt(int64((d-1)/size)+1, 10) + unit
}

// envelope puts the five bytes before a message that say whether it is compressed and how long it is.
func envelope(message []byte, compress bool) []byte {
	b := make([]byte, 5, 5+len(message))
	if compress {
		b[0], message = 1, gzipped(message)
	}
	binary.BigEndian.PutUint32(b[1:], uint32(len(message)))
	return append(b, message...)
}
