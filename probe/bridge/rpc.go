package bridge

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/lean"
)

const (
	// maxService is the greatest length of a service's name, in bytes. The full name of a protobuf service has a
	// fraction of it.
	maxService = 256
	// maxRequest is the greatest size of a request, in bytes: a name, and fields that later versions may add.
	maxRequest = 1 << 10
	// maxWatches is how many calls of Watch there may be at once.
	maxWatches = 16
	// watchPeriod is how often the server is asked for those who watch.
	watchPeriod = time.Second
	// maxCallTimeout bounds the timeout of a call, which is given in up to eight digits of hours.
	maxCallTimeout = time.Hour
)

// The methods of grpc.health.v1.Health.
const (
	checkPath = "/grpc.health.v1.Health/Check"
	listPath  = "/grpc.health.v1.Health/List"
	watchPath = "/grpc.health.v1.Health/Watch"
)

// gRPC status codes of the bridge itself, which package probe does not name.
const (
	codeCancelled         outcome.Code = 1
	codeInvalidArgument   outcome.Code = 3
	codeResourceExhausted outcome.Code = 8
	codeInternal          outcome.Code = 13
	codeUnavailable       outcome.Code = 14
)

// isGRPC reports whether a content type is that of gRPC, with messages in protocol buffers.
func isGRPC(contentType string) bool {
	return contentType == "application/grpc" || contentType == "application/grpc+proto"
}

// serveRPC answers a call by gRPC over HTTP/2. The errors of its parts are *[outcome.RPCError], with texts that need no
// escapes in a header.
func (h *handler) serveRPC(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", "application/grpc")
	err := h.call(w, r)
	failed, ok := errors.AsType[*outcome.RPCError](err)
	if !ok {
		failed = &outcome.RPCError{}
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)) // HTTP/2 always can
	header.Set(http.TrailerPrefix+"Grpc-Status", strconv.Itoa(int(failed.Code)))
	if failed.Message != "" {
		header.Set(http.TrailerPrefix+"Grpc-Message", failed.Message)
	}
	// Without this, a call that has sent nothing yet would end with headers that lack a status.
	_ = http.NewResponseController(w).Flush() // the caller may have gone
}

func (h *handler) call(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodPost {
		return &outcome.RPCError{Code: codeInternal, Message: "gRPC calls are POST"}
	}
	timeout, err := parseTimeout(r.Header.Get("Grpc-Timeout"))
	if err != nil {
		return err
	}
	message, err := readMessage(r.Body)
	if err != nil {
		return err
	}
	if r.URL.Path == watchPath {
		return h.watch(w, r, message, timeout)
	}
	if timeout == 0 {
		timeout = h.longest()
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	var answer []byte
	switch r.URL.Path {
	case checkPath:
		answer, err = h.check(ctx, r, message)
	case listPath:
		answer, err = h.list(ctx, r)
	default:
		err = &outcome.RPCError{Code: outcome.CodeUnimplemented, Message: "the bridge has grpc.health.v1.Health only"}
	}
	if err != nil {
		return err
	}
	return writeMessage(w, answer)
}

// parseTimeout reads a TimeoutValue with its unit (gRPC over HTTP/2, "Timeout"), "" being none and 0.
func parseTimeout(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	units := map[byte]time.Duration{
		'H': time.Hour, 'M': time.Minute, 'S': time.Second,
		'm': time.Millisecond, 'u': time.Microsecond, 'n': time.Nanosecond,
	}
	unit := units[text[len(text)-1]]
	value, err := strconv.ParseUint(text[:len(text)-1], 10, 32)
	if err != nil || unit == 0 || len(text) > 9 {
		return 0, &outcome.RPCError{Code: codeInternal, Message: "the call has a malformed grpc-timeout"}
	}
	if time.Duration(value) > maxCallTimeout/unit {
		return maxCallTimeout, nil
	}
	return max(time.Duration(value)*unit, 1), nil
}

// readMessage reads the message of a call.
func readMessage(body io.Reader) ([]byte, error) {
	var prefix [5]byte
	if _, err := io.ReadFull(body, prefix[:]); err != nil {
		return nil, &outcome.RPCError{Code: codeInternal, Message: "the call has no message"}
	}
	size := binary.BigEndian.Uint32(prefix[1:])
	switch {
	case prefix[0] != 0:
		return nil, &outcome.RPCError{Code: outcome.CodeUnimplemented, Message: "the bridge takes no compressed messages"}
	case size > maxRequest:
		return nil, &outcome.RPCError{
			Code:    codeResourceExhausted,
			Message: fmt.Sprintf("message of %d bytes is over the limit of %d", size, maxRequest),
		}
	}
	message := make([]byte, size)
	if _, err := io.ReadFull(body, message); err != nil {
		return nil, &outcome.RPCError{Code: codeInternal, Message: "the call's message is cut off"}
	}
	return message, nil
}

// writeMessage sends a message with its prefix of five bytes.
func writeMessage(w io.Writer, message []byte) error {
	b := make([]byte, 5, 5+len(message))
	binary.BigEndian.PutUint32(b[1:], uint32(len(message)))
	if _, err := w.Write(append(b, message...)); err != nil {
		return &outcome.RPCError{Code: codeUnavailable, Message: "the answer could not be sent"}
	}
	return nil
}

// serviceOf returns the service of a HealthCheckRequest.
func serviceOf(message []byte) (string, error) {
	service, err := lean.ParseCheckRequest(message)
	switch {
	case err != nil:
		return "", &outcome.RPCError{Code: codeInvalidArgument, Message: err.Error()}
	case len(service) > maxService:
		return "", &outcome.RPCError{
			Code: codeInvalidArgument, Message: fmt.Sprintf("service name is over the limit of %d bytes", maxService),
		}
	}
	return service, nil
}

// check implements Health/Check.
func (h *handler) check(ctx context.Context, r *http.Request, message []byte) ([]byte, error) {
	service, err := serviceOf(message)
	if err != nil {
		return nil, err
	}
	status, err := h.status(ctx, r, service)
	if err != nil {
		return nil, err
	}
	if status == outcome.StatusServiceUnknown {
		return nil, &outcome.RPCError{Code: outcome.CodeNotFound, Message: "unknown service"}
	}
	return lean.AppendCheckResponse(nil, status), nil
}

// list implements Health/List: the services that the bridge itself names, and those that the flags name.
func (h *handler) list(ctx context.Context, r *http.Request) ([]byte, error) {
	var answer []byte
	for _, service := range append([]string{"", "ready", "live"}, h.bridge.services()...) {
		if service == "" && answer != nil {
			continue // the flags name it too
		}
		status, err := h.status(ctx, r, service)
		if err != nil {
			return nil, err
		}
		answer = lean.AppendListEntry(answer, service, status)
	}
	return answer, nil
}

// status asks the server. It is SERVING only where the server has just said so. The status SERVICE_UNKNOWN stands for
// a service that the server does not know.
func (h *handler) status(ctx context.Context, r *http.Request, service string) (outcome.Status, error) {
	q := h.bridge.question(service)
	ended, err := h.questions.ask(ctx, q, callerOf(r.RemoteAddr))
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return 0, &outcome.RPCError{Code: outcome.CodeDeadlineExceeded, Message: "no answer within the timeout"}
	case err != nil:
		return 0, &outcome.RPCError{Code: codeCancelled, Message: "the call was cancelled"}
	case ended.Passes():
		return outcome.StatusServing, nil
	}
	if answers := ended.Report.Answers; q.kind == oneService && len(answers) == 1 {
		switch a := answers[0]; {
		case a.IsUnknownService():
			return outcome.StatusServiceUnknown, nil
		case a.Err == nil:
			return a.Status, nil
		}
	}
	return outcome.StatusNotServing, nil
}

// watch implements Health/Watch: the server is asked once in a while, and each change is sent.
func (h *handler) watch(w http.ResponseWriter, r *http.Request, message []byte, timeout time.Duration) error {
	select {
	case h.watches <- struct{}{}:
		defer func() { <-h.watches }()
	default:
		return &outcome.RPCError{Code: codeResourceExhausted, Message: "too many calls of Watch"}
	}
	service, err := serviceOf(message)
	if err != nil {
		return err
	}
	ctx := r.Context()
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	tick := time.NewTicker(watchPeriod)
	defer tick.Stop()
	for last, first := outcome.Status(0), true; ; first = false {
		status, err := h.status(ctx, r, service)
		if err != nil {
			return err
		}
		if first || status != last {
			if err := sendStatus(w, status); err != nil {
				return err
			}
		}
		last = status
		select {
		case <-tick.C:
		case <-ctx.Done():
			return &outcome.RPCError{Code: outcome.CodeDeadlineExceeded, Message: "the call's time is up"}
		case <-h.stopping:
			return &outcome.RPCError{Code: codeUnavailable, Message: "the bridge ends"}
		}
	}
}

// sendStatus sends a message of Watch at once.
func sendStatus(w http.ResponseWriter, status outcome.Status) error {
	control := http.NewResponseController(w)
	deadline := func(t time.Time) { _ = control.SetWriteDeadline(t) } // HTTP/2 always can
	deadline(time.Now().Add(writeTimeout))
	if err := writeMessage(w, lean.AppendCheckResponse(nil, status)); err != nil {
		return err
	}
	if err := control.Flush(); err != nil {
		return &outcome.RPCError{Code: codeUnavailable, Message: "the answer could not be sent"}
	}
	deadline(time.Time{}) // a call of Watch may last
	return nil
}
