package lean

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/http2"
)

const (
	// maxIdleFrames is how many frames that bring no answer nearer may come within idlePeriod. With more of them the
	// connection is given up: a server that sends PINGs endlessly would keep the CPU busy until the deadline.
	maxIdleFrames = 10000
	idlePeriod    = time.Minute
)

// connError is a failure of the whole connection that the server caused.
type connError struct{ reason string }

func (e *connError) Error() string { return e.reason }

func protocolError(format string, args ...any) error {
	return &connError{"server broke the HTTP/2 protocol: " + fmt.Sprintf(format, args...)}
}

// session is one HTTP/2 connection, seen from its client (RFC 9113). Only one goroutine uses it. What has to be sent is
// collected, and written when nothing is left to do but read: so a probe makes one write and, as a rule, one read.
type session struct {
	conn    io.ReadWriter
	in      *frameReader
	out     []byte
	headers *headerDecoder
	partial *headerBlock // nil if none is
	streams []*stream
	nextID  uint32

	idle      int // frames since the last one that mattered
	idleSince time.Time

	// What the server has announced.
	settled    bool // it has sent its SETTINGS
	frameSize  int
	window     int64 // the initial one of a stream
	connWindow int64
	maxStreams uint32
	// noneAllowed tells that the first SETTINGS allowed no call at all.
	noneAllowed bool
	maxHeaders  uint32 // of a request, as the protocol counts
	smallTable  bool   // the table it decodes headers with is under the default, which the next block has to confirm
	goAway      *check.GoAwayError

	// Bytes of DATA received and not yet given back to the window of the connection.
	taken uint32
}

func newSession(conn io.ReadWriter) *session {
	s := &session{
		conn:       conn,
		in:         newFrameReader(conn),
		headers:    newHeaderDecoder(),
		nextID:     1,
		frameSize:  http2.MaxFrameSize,
		window:     http2.DefaultWindow,
		connWindow: http2.DefaultWindow,
		maxStreams: 1<<32 - 1,
		maxHeaders: 1<<32 - 1,
	}
	var settings []byte
	settings = http2.AppendSetting(settings, http2.SettingEnablePush, 0)
	settings = http2.AppendSetting(settings, http2.SettingMaxHeaderListSize, maxHeaderBytes)
	s.out = append(s.out, http2.Preface...)
	s.out = http2.AppendFrame(s.out, http2.FrameSettings, 0, 0, settings)
	return s
}

// run sends and receives until done returns true. The error is that of the connection, if it ended before.
func (s *session) run(done func() bool) error {
	err := s.exchange(done)
	if check.IsHangup(err) && s.goAway != nil {
		return s.goAway
	}
	return err
}

func (s *session) exchange(done func() bool) error {
	for !done() {
		s.pump()
		if done() {
			return nil
		}
		if !s.in.buffered() {
			if err := s.flush(); err != nil {
				return err
			}
		}
		f, err := s.in.next()
		if err != nil {
			return err
		}
		if err := s.handle(f); err != nil {
			return err
		}
	}
	return nil
}

// countIdle counts a frame that may bring no answer nearer. A frame that does resets the count.
func (s *session) countIdle() error {
	if s.idle == 0 {
		s.idleSince = time.Now()
	}
	if s.idle++; s.idle <= maxIdleFrames {
		return nil
	}
	if time.Since(s.idleSince) < idlePeriod {
		return protocolError("%d frames that carry no answer", maxIdleFrames)
	}
	s.idle = 0
	return nil
}

// flush writes what is queued. It ignores that the server has hung up, because the server may have answered before: the
// next read finds that out.
func (s *session) flush() error {
	if len(s.out) == 0 {
		return nil
	}
	_, err := s.conn.Write(s.out)
	s.out = s.out[:0]
	if check.IsHangup(err) {
		return nil
	}
	return err
}

// notHTTP2 returns the first bytes of a server that does not begin as HTTP/2 does, and nil if it does. HTTP/2 begins
// with a frame of the connection: SETTINGS, or GOAWAY in their place.
func (s *session) notHTTP2() []byte {
	first := s.in.firstBytes()
	if len(first) >= http2.FrameHeaderLen {
		kind, stream := http2.FrameType(first[3]), binary.BigEndian.Uint32(first[5:])
		if (kind == http2.FrameSettings || kind == http2.FrameGoAway) && stream == 0 {
			return nil
		}
	}
	return first
}

// handle handles the next frame of the connection.
func (s *session) handle(f frame) error {
	if err := s.countIdle(); err != nil {
		return err
	}
	if s.partial != nil {
		return s.handleContinuation(f)
	}
	if !s.settled && f.kind != http2.FrameSettings && f.kind != http2.FrameGoAway {
		return protocolError("the first frame is of type %d, not SETTINGS", f.kind)
	}
	switch f.kind {
	case http2.FrameSettings:
		return s.handleSettings(f)
	case http2.FramePing:
		return s.handlePing(f)
	case http2.FrameGoAway:
		return s.handleGoAway(f)
	case http2.FrameWindowUpdate:
		return s.handleWindowUpdate(f)
	case http2.FrameHeaders:
		return s.handleHeaders(f)
	case http2.FrameData:
		return s.handleData(f)
	case http2.FrameRSTStream:
		return s.handleReset(f)
	case http2.FrameContinuation:
		return protocolError("CONTINUATION without HEADERS")
	case http2.FramePushPromise:
		return s.handlePushPromise(f)
	case http2.FramePriority:
		return s.handlePriority(f)
	case http2.FramePriorityUpdate:
		return s.handlePriorityUpdate(f)
	default: // Types that are not known are ignored (RFC 9113 section 5.5).
		return nil
	}
}
