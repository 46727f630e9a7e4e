package lean

import (
	"fmt"
	"slices"
	"time"

	"github.com/grpc-cnb/health-probe/probe/http2"
)

// gRPC status codes (the same as in google.golang.org/grpc/codes).
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
	size    uint32 // of the headers, as HTTP/2 counts
	request []byte // the request's message
	unsent  []byte // rest of request
	eager   bool   // sent before the server's SETTINGS had come
	sends   int    // number of times sent
	sentAll bool
	window  int64
	taken   uint32

	// message is called with each message that comes. An error from message ends the call.
	message  func([]byte) error
	messages int       // number received
	expires  time.Time // of the server's deadline, zero for none
	streams  bool      // more than one message may come
	started  bool      // the server's headers have come
	encoding string
	body     []byte
	page     *callError // error for an answer of HTTP, not of gRPC; nil for none. The body is the page's text.

	done     bool
	code     int
	reason   string
	answered bool // the server itself has sent the code
	refused  bool // the server did not process the call: another connection may send it
	lost     bool // the connection ended before the call
}

func (st *stream) fail(code int, reason string) {
	if st.page != nil && !st.done {
		code, reason = st.page.code, st.page.words(st.body)
	}
	if !st.done {
		st.done, st.code, st.reason = true, code, reason
	}
}

// expired reports whether the server's deadline for the call is past.
func (st *stream) expired() bool { return !st.expires.IsZero() && !time.Now().Before(st.expires) }

func newStream(headers, message []byte) *stream {
	return &stream{headers: headers, request: message, unsent: message}
}

// add queues calls, to be sent as soon as the server's limits allow.
func (s *session) add(all ...*stream) {
	s.streams = append(slices.DeleteFunc(s.streams, func(old *stream) bool { return old.done }), all...)
}

// pump queues the frames of calls that the server's limits allow.
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

// start sends the headers of a call, if one more call may be open. The first call is sent in the same write as the
// preface: the server's limit is not known yet, and hardly any server has a limit of zero. Further calls wait for the
// server's SETTINGS.
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
	st.sends++
	s.nextID += 2
	kind, block := http2.FrameHeaders, st.headers
	if s.smallTable {
		s.smallTable = false
		block = append(http2.AppendTableSizeZero(nil), block...)
	}
	for {
		part := block[:min(len(block), s.frameSize)]
		block = block[len(part):]
		var flags uint8
		if len(block) == 0 {
			flags = http2.FlagEndHeaders
		}
		s.out = http2.AppendFrame(s.out, kind, flags, st.id, part)
		if kind = http2.FrameContinuation; len(block) == 0 {
			return true
		}
	}
}

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
			flags = http2.FlagEndStream
		}
		s.out = http2.AppendFrame(s.out, http2.FrameData, flags, st.id, part)
	}
}

// checkHeaders ends a call whose headers are larger than the server's limit.
func (st *stream) checkHeaders(limit uint32) {
	if st.size > limit {
		st.fail(internal, fmt.Sprintf("headers of %d bytes are over the server's limit of %d", st.size, limit))
	}
}

// maxSends is how often a call refused by the server is sent at most, GOAWAY apart.
const maxSends = 2

// isRefusal reports whether the server has reset a call without processing, so that the call may be sent once more.
// Three cases count. In the first, the server says so (RFC 9113 section 8.7). In the second and third, the call was
// sent before the server's SETTINGS had come. Either the SETTINGS allow no call at all, which servers may treat as an
// error of the protocol (section 5.1.2), or net/http has counted data over the window, which section 6.9.3 tells
// servers to accept.
func (s *session) isRefusal(st *stream, code uint32) bool {
	switch code {
	case http2.CodeRefusedStream:
		return true
	case http2.CodeProtocol:
		return st.eager && s.noneAllowed
	case http2.CodeFlowControl:
		return st.eager && s.window < http2.DefaultWindow
	}
	return false
}

// again makes pump send a call once more.
func (st *stream) again() {
	st.id, st.unsent, st.sentAll, st.taken = 0, st.request, false, 0
	st.done, st.refused, st.lost = false, false, false
	st.started, st.body, st.messages, st.page = false, nil, 0, nil
}

// cancel ends a call that nobody waits for any more.
func (s *session) cancel(st *stream) {
	if st.id != 0 && !st.done {
		s.out = http2.AppendFrame(s.out, http2.FrameRSTStream, 0, st.id, []byte{0, 0, 0, http2.CodeCancel})
	}
	s.streams = slices.DeleteFunc(s.streams, func(other *stream) bool { return other == st })
}

func (st *stream) refuse(reason error) {
	if !st.done {
		st.fail(unavailable, reason.Error())
		st.refused = true
	}
}

// receiveReset ends a call that the server has reset, with the gRPC status for the error code (gRPC over HTTP/2,
// "Errors").
func (st *stream) receiveReset(code uint32) {
	status := internal
	switch code {
	case http2.CodeRefusedStream:
		status = unavailable
	case http2.CodeCancel:
		status = canceled
	case http2.CodeEnhanceYourCalm:
		status = resourceExhausted
	case http2.CodeInadequateSecurity:
		status = permissionDenied
	}
	st.fail(status, fmt.Sprintf("server reset the stream (error code %s)", http2.CodeName(code)))
}
