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
	// maxIdleFrames is the number of frames without progress towards an answer that may come within idlePeriod. More
	// frames end the connection: a server that sends PINGs endlessly would keep the CPU busy until the deadline.
	maxIdleFrames = 10000
	idlePeriod    = time.Minute
)

// connError is a failure of the whole connection, caused by the server.
type connError struct{ reason string }

func (e *connError) Error() string { return e.reason }

func protocolError(format string, args ...any) error {
	return &connError{"server broke the HTTP/2 protocol: " + fmt.Sprintf(format, args...)}
}

// session is the client's end of an HTTP/2 connection (RFC 9113). Only one goroutine uses a session. Frames to send are
// collected, and written when the session can only read: so a probe makes one write and, as a rule, one read.
type session struct {
	conn    io.ReadWriter
	in      *frameReader
	out     []byte
	headers *headerDecoder
	partial *headerBlock // nil if none is
	streams []*stream
	nextID  uint32

	idle      int // frames since the last progress
	idleSince time.Time

	// Announced by the server.
	settled    bool // the server has sent SETTINGS
	frameSize  int
	window     int64 // initial window of a stream
	connWindow int64
	maxStreams uint32
	// noneAllowed means that the first SETTINGS allowed no call at all.
	noneAllowed bool
	maxHeaders  uint32 // of a request, as HTTP/2 counts
	smallTable  bool   // the server's table for headers is smaller than the default; the next block has to confirm
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

// run sends and receives until done returns true. The error is that of a connection that ends earlier.
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

// countIdle counts a frame that may bring no progress towards an answer. Progress resets the count.
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

// flush writes the queued frames. A hangup is no error here, because the server may have answered before: the next read
// reports the hangup.
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

// notHTTP2 returns the first bytes of a server that does not speak HTTP/2, or nil. HTTP/2 begins with a frame of the
// connection: SETTINGS, or GOAWAY in place of SETTINGS.
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
