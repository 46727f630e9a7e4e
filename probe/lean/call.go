package lean

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// calls are the methods of the health service on a connection.
type calls struct {
	options *options.Options
	// run sends calls, and receives until all are complete. The deadline is taken once the connection is settled. If
	// the connection ends before the deadline, the open calls fail. The error means that nothing could be sent, or that
	// the deadline has come.
	run func(deadline func() time.Time, all ...*stream) error
}

// Check implements [check.Conn].
func (c calls) Check(services []string) []outcome.Answer {
	answers := make([]outcome.Answer, len(services))
	all := make([]*stream, len(services))
	for i, service := range services {
		answer := &answers[i]
		answer.Service = service
		all[i] = c.call("Check", service, c.options.Budget.RPCTimeout, func(message []byte) error {
			status, err := parseCheckResponse(message)
			answer.Status = outcome.Status(status)
			return err
		})
	}
	err := c.run(c.options.Budget.Call, all...)
	for i, call := range all {
		answers[i].Err = errorOf(call, err)
	}
	return answers
}

// List implements [check.Conn].
func (c calls) List() (map[string]outcome.Status, error) {
	statuses := map[string]outcome.Status{}
	call := c.call("List", "", c.options.Budget.RPCTimeout, func(message []byte) error {
		return parseListResponse(message,
			func(service string, status int32) { statuses[service] = outcome.Status(status) })
	})
	err := c.run(c.options.Budget.Call, call)
	return statuses, errorOf(call, err)
}

// Watch implements [check.Conn].
func (c calls) Watch(service string, receive func(outcome.Status)) error {
	call := c.call("Watch", service, 0, func(message []byte) error {
		status, err := parseCheckResponse(message)
		if err == nil {
			receive(outcome.Status(status))
		}
		return err
	})
	call.streams = true
	return errorOf(call, c.run(c.options.Budget.End, call))
}

// call returns a call of the health service for one service. The empty name is the whole server.
func (c calls) call(method, service string, timeout time.Duration, receive func([]byte) error) *stream {
	message := envelope(appendCheckRequest(nil, service), c.options.GZIP)
	headers := requestHeaders(c.options, method, timeout)
	st := newStream(encodeHeaders(headers), message)
	st.size = headerListSize(headers)
	st.message = receive
	if timeout > 0 {
		st.expires = time.Now().Add(timeout)
	}
	return st
}

// runAlone implements calls.run on a connection without further calls. The first call is sent with the client's
// SETTINGS.
func (c *conn) runAlone(deadline func() time.Time, all ...*stream) error {
	c.session.add(all...)
	if all[0].streams {
		c.lasting = true
		c.sock.keepAlive()
	}
	if err := c.Settle(); err != nil {
		return err
	}
	until := deadline()
	if err := c.complete(until, all); err != nil {
		return err
	}
	if again := unanswered(all); again != nil {
		return c.runAgain(until, again)
	}
	return nil
}

// unanswered returns the calls to make once more: calls that the server did not process, and calls lost with the
// connection before any answer. Health checks change nothing, so a second call does no harm.
func unanswered(all []*stream) (again []*stream) {
	for _, call := range all {
		if call.refused || call.lost && call.messages == 0 {
			again = append(again, call)
		}
	}
	return again
}

// complete sends and receives until the calls are complete. The error concerns the deadline alone.
func (c *conn) complete(deadline time.Time, all []*stream) error {
	err := c.sock.SetDeadline(deadline)
	if err == nil {
		err = c.session.run(func() bool { return complete(all) })
	}
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	for _, call := range all {
		call.lost = !call.done && check.IsHangup(err)
		call.fail(unavailable, reason(err))
	}
	return nil
}

func complete(all []*stream) bool {
	for _, call := range all {
		if !call.done {
			return false
		}
	}
	return true
}

// runAgain makes calls on a second connection, within the deadline of the calls (RFC 9113 section 8.7). There is no
// third connection.
func (c *conn) runAgain(deadline time.Time, refused []*stream) error {
	leaving := refused[0].reason
	_ = c.Close() // the new connection is what counts
	for _, call := range refused {
		call.again()
	}
	err := c.connect(c.options.Budget.Reconnect(deadline))
	if err == nil {
		c.session.add(refused...)
		err = c.Settle()
	}
	if err == nil {
		return c.complete(deadline, refused)
	}
	if !deadline.IsZero() && !time.Now().Before(deadline) {
		return os.ErrDeadlineExceeded
	}
	for _, call := range refused {
		call.fail(unavailable, leaving+"; connecting again: "+reason(err))
	}
	return nil
}

// reason says why a connection has ended. All kinds of hangup have the same words, because the kind depends on timing.
func reason(err error) string {
	if check.IsHangup(err) {
		return check.HangupReason
	}
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number.Error()
	}
	return err.Error()
}

// errorOf returns the error of a call, or err while the call is under way; nil if the call was answered.
func errorOf(call *stream, err error) error {
	if call.page != nil && !call.done {
		call.endPage()
	}
	switch {
	case !call.done && errors.Is(err, os.ErrDeadlineExceeded):
		return &outcome.RPCError{Code: outcome.CodeDeadlineExceeded, Message: "no answer within the timeout"}
	case !call.done:
		return err
	case call.code == canceled && !call.answered && call.expired():
		// The server ended the call at the deadline, before the probe noticed the deadline.
		return &outcome.RPCError{Code: outcome.CodeDeadlineExceeded, Message: call.reason}
	case call.code != ok:
		return &outcome.RPCError{Code: outcome.Code(call.code), Message: call.reason, Answered: call.answered}
	case call.streams:
		return &outcome.RPCError{Code: unavailable, Message: "server ended the watch", Answered: true}
	case call.messages == 0:
		return &outcome.RPCError{Code: internal, Message: "server sent no answer"}
	}
	return nil
}

// requestHeaders returns the headers of a call, in the order that gRPC over HTTP/2 gives them ("Requests").
func requestHeaders(o *options.Options, method string, timeout time.Duration) []header {
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

// grpcTimeout writes d, rounded up, as a TimeoutValue of at most eight digits with its unit (gRPC over HTTP/2,
// "Timeout").
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

// envelope returns a message after a prefix of five bytes: the compression flag and the length.
func envelope(message []byte, compress bool) []byte {
	b := make([]byte, 5, 5+len(message))
	if compress {
		b[0], message = 1, gzipped(message)
	}
	binary.BigEndian.PutUint32(b[1:], uint32(len(message)))
	return append(b, message...)
}
