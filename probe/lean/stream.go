package lean

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/grpc-cnb/health-probe/probe"
)

// gRPC status codes (google.golang.org/grpc/codes has the same).
const (
	ok                = 0
	canceled          = 1
	unknown           = 2
	permissionDenied  = 7
	resourceExhausted = 8
	unimplemented     = 12
	internal          = 13
	unavailable       = 14
	unauthenticated   = 16
)

// stream is one call (gRPC over HTTP/2, "Responses").
type stream struct {
	// id is zero until the call is sent.
	id      uint32
	headers []byte // the request's block
	size    uint32 // of the headers, as the protocol counts
	request []byte // the request's message
	unsent  []byte // what is left of it
	eager   bool   // sent before the server's SETTINGS had come
	retried bool
	sentAll bool
	window  int64
	taken   uint32

	// message is called with each message as it comes; an error from it ends the call.
	message  func([]byte) error
	messages int       // how many have come
	expires  time.Time // of the server's deadline, zero for none
	streams  bool      // more than one may come
	started  bool      // the server's headers have come
	encoding string
	body     []byte

	done     bool
	code     int
	reason   string
	answered bool // the server itself has sent the code
}

func (st *stream) fail(code int, reason string) {
	if !st.done {
		st.done, st.code, st.reason = true, code, reason
	}
}

// expired reports whether the server was to end the call by now.
func (st *stream) expired() bool { return !st.expires.IsZero() && !time.Now().Before(st.expires) }

// open queues a call. It is sent as soon as the server's limits allow.
func (s *session) open(headers, message []byte) *stream {
	st := &stream{headers: headers, request: message, unsent: message}
	s.streams = append(slices.DeleteFunc(s.streams, func(old *stream) bool { return old.done }), st)
	return st
}

// pump queues the frames of calls that the server's limits let through.
func (s *session) pump() {
	for _, st := range s.streams {
		if st.done {
			continue
		}
		if st.id == 0 && !s.start(st) {
			return
		}
		s.send(st)
	}
}

// start sends the headers of a call, if one more may be open. One is sent with the preface, in the same write: the
// server's limit is not known then, and a limit of none at all is not a server. The rest wait for its SETTINGS.
func (s *session) start(st *stream) bool {
	var open uint32
	for _, other := range s.streams {
		if other.id != 0 && !other.done {
			open++
		}
	}
	if s.goAway != nil || open >= s.maxStreams || open > 0 && !s.settled {
		return false
	}
	if st.checkHeaders(s.maxHeaders); st.done {
		return true
	}
	st.id, st.window, st.eager = s.nextID, s.window, !s.settled
	s.nextID += 2
	kind, block := frameHeaders, st.headers
	if s.smallTable {
		s.smallTable = false
		block = append([]byte{tableSizeZero}, block...)
	}
	for {
		part := block[:min(len(block), s.frameSize)]
		block = block[len(part):]
		var flags uint8
		if len(block) == 0 {
			flags = flagEndHeaders
		}
		s.out = appendFrame(s.out, kind, flags, st.id, part)
		if kind = frameContinuation; len(block) == 0 {
			return true
		}
	}
}

// send sends as much of a call's message as the windows take.
func (s *session) send(st *stream) {
	for !st.done && !st.sentAll {
		n := min(int64(len(st.unsent)), int64(s.frameSize), st.window, s.connWindow)
		if n <= 0 {
			return
		}
		part := st.unsent[:n]
		st.unsent = st.unsent[n:]
		st.window -= n
		s.connWindow -= n
		var flags uint8
		if st.sentAll = len(st.unsent) == 0; st.sentAll {
			flags = flagEndStream
		}
		s.out = appendFrame(s.out, frameData, flags, st.id, part)
	}
}

func (st *stream) receiveHeaders(headers []header, end bool) {
	if st.done {
		return
	}
	if st.started && !end {
		st.fail(internal, "server sent headers twice")
		return
	}
	fields := map[string]string{}
	for _, h := range headers {
		fields[h.name] = h.value
	}
	if !st.started {
		status := fields[":status"]
		// A gRPC status, here or in trailers, goes before HTTP's (gRPC, "HTTP to gRPC Status Code Mapping").
		saysMore := status != "" && isGRPC(fields["content-type"]) && (!end || fields["grpc-status"] != "")
		if len(status) == 3 && status[0] == '1' && !end {
			return
		} else if status != "200" && !saysMore {
			st.fail(codeOfHTTP(status), fmt.Sprintf("server answered with HTTP status %q", status))
			return
		}
		if !isGRPC(fields["content-type"]) {
			st.fail(unknown, fmt.Sprintf("server answered with HTTP status %q and content type %q, not application/grpc",
				status, fields["content-type"]))
			return
		}
		st.started, st.encoding = true, fields["grpc-encoding"]
	}
	if end {
		st.finish(fields)
	}
}

// isGRPC reports whether a content type is gRPC's, with any message format, and not gRPC-Web's.
func isGRPC(contentType string) bool {
	rest, ok := strings.CutPrefix(contentType, "application/grpc")
	return ok && (rest == "" || rest[0] == '+' || rest[0] == ';')
}

// finish ends the call with the server's trailers.
func (st *stream) finish(trailers map[string]string) {
	status, err := strconv.ParseUint(trailers["grpc-status"], 10, 31)
	if err != nil {
		st.fail(unknown, fmt.Sprintf("server ended the call with grpc-status %q", trailers["grpc-status"]))
		return
	}
	if status == ok && len(st.body) > 0 {
		st.fail(internal, "server ended the call within a message")
		return
	}
	st.answered = !st.done
	st.fail(int(status), percentDecode(trailers["grpc-message"]))
}

func (st *stream) receiveData(data []byte, end bool) {
	if st.done {
		return
	}
	if !st.started {
		st.fail(internal, "server sent data before headers")
		return
	}
	st.body = append(st.body, data...)
	if err := st.deliver(); err != nil {
		st.fail(err.code, err.reason)
	} else if end {
		st.fail(internal, "server ended the call without a status")
	}
}

// callError ends one call.
type callError struct {
	code   int
	reason string
}

// deliver hands over the messages that are complete (gRPC over HTTP/2, "Length-Prefixed-Message").
func (st *stream) deliver() *callError {
	for len(st.body) >= 5 {
		size := uint32(st.body[1])<<24 | uint32(st.body[2])<<16 | uint32(st.body[3])<<8 | uint32(st.body[4])
		if size > probe.MaxMessage {
			return &callError{resourceExhausted, fmt.Sprintf("message of %d bytes is over the limit of %d", size, probe.MaxMessage)}
		}
		if uint32(len(st.body)-5) < size {
			return nil
		}
		message := st.body[5 : 5+size]
		if compressed := st.body[0]; compressed == 1 {
			plain, err := st.decompress(message)
			if err != nil {
				return err
			}
			message = plain
		} else if compressed > 1 {
			return &callError{internal, "message is neither compressed nor not"}
		}
		st.messages++
		if err := st.message(message); err != nil {
			return &callError{internal, err.Error()}
		}
		st.body = st.body[5+size:]
	}
	return nil
}

func (st *stream) decompress(message []byte) ([]byte, *callError) {
	if st.encoding != "gzip" {
		return nil, &callError{internal, fmt.Sprintf("message is compressed with %q", st.encoding)}
	}
	plain, err := gunzip(message)
	if errors.Is(err, errTooLong) {
		return nil, &callError{resourceExhausted, "decompressing the message: " + err.Error()}
	} else if err != nil {
		return nil, &callError{internal, "decompressing the message: " + err.Error()}
	}
	return plain, nil
}

// checkHeaders ends a call whose headers are over the server's limit.
func (st *stream) checkHeaders(limit uint32) {
	if st.size > limit {
		st.fail(internal, fmt.Sprintf("headers of %d bytes are over the server's limit of %d", st.size, limit))
	}
}

// mayRetry reports whether a call that the server has reset can be sent once more: it was refused, and so not processed
// (RFC 9113, section 8.7), or net/http found data over its window in a call that was sent before the window was known
// (section 6.9.3 asks it to take that). Not where the server takes no calls at all: that one would wait for ever.
func (s *session) mayRetry(st *stream, code uint32) bool {
	return !st.started && !st.retried && s.maxStreams > 0 &&
		(code == codeRefusedStream || code == codeFlowControl && st.eager && s.window < defaultWindow)
}

// again has pump send a call once more.
func (st *stream) again() {
	st.id, st.unsent, st.sentAll, st.retried = 0, st.request, false, true
}

// receiveReset maps the error code as gRPC does ("Errors" in gRPC over HTTP/2).
func (st *stream) receiveReset(code uint32) {
	status := internal
	switch code {
	case codeRefusedStream:
		status = unavailable
	case codeCancel:
		status = canceled
	case codeEnhanceYourCalm:
		status = resourceExhausted
	case codeInadequateSecurity:
		status = permissionDenied
	}
	st.fail(status, fmt.Sprintf("server reset the stream (error code %d)", code))
}

// codeOfHTTP maps the HTTP status of an answer that is not gRPC's (gRPC, "HTTP to gRPC Status Code Mapping").
func codeOfHTTP(status string) int {
	switch status {
	case "400":
		return internal
	case "401":
		return unauthenticated
	case "403":
		return permissionDenied
	case "404":
		return unimplemented
	case "429", "502", "503", "504":
		return unavailable
	default:
		return unknown
	}
}

// percentDecode decodes a grpc-message; what is not valid stays as it is (gRPC over HTTP/2, "Responses").
func percentDecode(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
