package lean

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"
)

// Error codes (RFC 9113, section 7) that mean something to a probe.
const (
	codeNoError            = 0x0
	codeFlowControl        = 0x3
	codeRefusedStream      = 0x7
	codeCancel             = 0x8
	codeEnhanceYourCalm    = 0xb
	codeInadequateSecurity = 0xc
)

// Settings (RFC 9113, section 6.5.2).
const (
	settingHeaderTableSize      = 0x1
	settingEnablePush           = 0x2
	settingMaxConcurrentStreams = 0x3
	settingInitialWindowSize    = 0x4
	settingMaxFrameSize         = 0x5
	settingMaxHeaderListSize    = 0x6
)

const (
	preface       = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	defaultWindow = 65535
	maxWindow     = 1<<31 - 1
	// maxIdleFrames is how many frames may come within idlePeriod that bring no answer nearer, before the connection is
	// given up: a server that sends PINGs without end would keep the probe's CPU busy until the deadline.
	maxIdleFrames = 10000
	idlePeriod    = time.Minute
)

// connError is a failure of the whole connection that the server caused.
type connError struct{ reason string }

func (e *connError) Error() string { return e.reason }

func protocolError(format string, args ...any) error {
	return &connError{"server broke the HTTP/2 protocol: " + fmt.Sprintf(format, args...)}
}

// session is one HTTP/2 connection as its client sees it (RFC 9113). One goroutine uses it: what is to be sent is
// gathered and written when there is nothing left to do but read, so a probe is one write and, as a rule, one read.
type session struct {
	conn    io.ReadWriter
	in      *frameReader
	out     []byte
	headers *headerDecoder
	streams []*stream
	nextID  uint32

	idle      int // frames since the last one that mattered
	idleSince time.Time

	// What the server has said of itself.
	settled    bool // it has sent its SETTINGS
	frameSize  int
	window     int64 // the initial one of a stream
	connWindow int64
	maxStreams uint32
	maxHeaders uint32 // of a request, as the protocol counts
	smallTable bool   // the table it decodes headers with is under the default, which the next block has to confirm
	goAway     *goAway

	// Bytes of DATA received and not yet given back to the window of the connection.
	taken uint32
}

// maxDebug is how much is kept of the text in a GOAWAY, in bytes: what is meant for people is shorter.
const maxDebug = 256

// goAway is the server's notice that it is closing the connection (RFC 9113, section 6.8).
type goAway struct {
	lastID, code uint32
	debug        string
}

func newSession(conn io.ReadWriter) *session {
	s := &session{
		conn:       conn,
		in:         newFrameReader(conn),
		headers:    newHeaderDecoder(),
		nextID:     1,
		frameSize:  maxFrameSize,
		window:     defaultWindow,
		connWindow: defaultWindow,
		maxStreams: 1<<32 - 1,
		maxHeaders: 1<<32 - 1,
	}
	var settings []byte
	settings = appendSetting(settings, settingEnablePush, 0)
	settings = appendSetting(settings, settingMaxHeaderListSize, maxHeaderBytes)
	s.out = append(s.out, preface...)
	s.out = appendFrame(s.out, frameSettings, 0, 0, settings)
	return s
}

func appendSetting(b []byte, id uint16, value uint32) []byte {
	b = binary.BigEndian.AppendUint16(b, id)
	return binary.BigEndian.AppendUint32(b, value)
}

// run sends and receives until done is true. It returns the error of the connection that ended it before.
func (s *session) run(done func() bool) error {
	err := s.exchange(done)
	if hungUp(err) && s.goAway != nil {
		return &connError{s.goAway.String()}
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
		if err := s.countIdle(); err != nil {
			return err
		}
		if err := s.handle(f); err != nil {
			return err
		}
	}
	return nil
}

// countIdle counts a frame that may not matter; what does matter sets the count to zero again.
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

// hungUp tells whether err is the one of a connection that the server has closed. Which of them comes is a matter of
// timing.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// flush writes what is queued. A server that has hung up may have answered before: that is found out by reading.
func (s *session) flush() error {
	if len(s.out) == 0 {
		return nil
	}
	_, err := s.conn.Write(s.out)
	s.out = s.out[:0]
	if hungUp(err) {
		return nil
	}
	return err
}

func (s *session) handle(f frame) error {
	if !s.settled && f.kind != frameSettings {
		return protocolError("the first frame is of type %d, not SETTINGS", f.kind)
	}
	switch f.kind {
	case frameSettings:
		return s.handleSettings(f)
	case framePing:
		return s.handlePing(f)
	case frameGoAway:
		return s.handleGoAway(f)
	case frameWindowUpdate:
		return s.handleWindowUpdate(f)
	case frameHeaders:
		return s.handleHeaders(f)
	case frameData:
		return s.handleData(f)
	case frameRSTStream:
		return s.handleReset(f)
	case frameContinuation:
		return protocolError("CONTINUATION without HEADERS")
	case framePushPromise:
		return protocolError("PUSH_PROMISE, which is switched off")
	default: // PRIORITY, and types that are not known, are ignored (RFC 9113, sections 5.5 and 6.3).
		return nil
	}
}

func (s *session) handleSettings(f frame) error {
	if f.stream != 0 {
		return protocolError("SETTINGS on stream %d", f.stream)
	}
	if f.has(flagAck) {
		if !s.settled || len(f.payload) != 0 {
			return protocolError("bad acknowledgement of SETTINGS")
		}
		return nil
	}
	if len(f.payload)%6 != 0 {
		return protocolError("SETTINGS of %d bytes", len(f.payload))
	}
	for b := f.payload; len(b) > 0; b = b[6:] {
		if err := s.apply(binary.BigEndian.Uint16(b), binary.BigEndian.Uint32(b[2:])); err != nil {
			return err
		}
	}
	for _, st := range s.streams {
		st.checkHeaders(s.maxHeaders)
	}
	s.settled = true
	s.out = appendFrame(s.out, frameSettings, flagAck, 0, nil)
	return nil
}

func (s *session) apply(id uint16, value uint32) error {
	switch id {
	case settingHeaderTableSize:
		s.smallTable = value < headerTableSize
	case settingMaxHeaderListSize:
		s.maxHeaders = value
	case settingMaxConcurrentStreams:
		s.maxStreams = value
	case settingInitialWindowSize:
		if value > maxWindow {
			return protocolError("initial window of %d bytes", value)
		}
		// The change goes for streams that are open as well, whose window may become negative (RFC 9113, section 6.9.2).
		for _, st := range s.streams {
			st.window += int64(value) - s.window
		}
		s.window = int64(value)
	case settingMaxFrameSize:
		if value < maxFrameSize || value > 1<<24-1 {
			return protocolError("maximum frame size of %d bytes", value)
		}
		s.frameSize = int(value)
	}
	return nil
}

func (s *session) handlePing(f frame) error {
	if f.stream != 0 || len(f.payload) != 8 {
		return protocolError("bad PING")
	}
	if !f.has(flagAck) {
		s.out = appendFrame(s.out, framePing, flagAck, 0, f.payload)
	}
	return nil
}

func (s *session) handleGoAway(f frame) error {
	if f.stream != 0 || len(f.payload) < 8 {
		return protocolError("bad GOAWAY")
	}
	s.goAway = &goAway{
		lastID: binary.BigEndian.Uint32(f.payload) & (1<<31 - 1),
		code:   binary.BigEndian.Uint32(f.payload[4:]),
		debug:  string(f.payload[8:min(len(f.payload), 8+maxDebug)]),
	}
	for _, st := range s.streams {
		// After an error no frame is to come (RFC 9113, section 5.4.1).
		if st.id == 0 || st.id > s.goAway.lastID || s.goAway.code != codeNoError {
			st.fail(unavailable, s.goAway.String())
		}
	}
	return nil
}

func (g *goAway) String() string {
	text := fmt.Sprintf("server is closing the connection (GOAWAY, error code %d)", g.code)
	if g.debug != "" {
		text += fmt.Sprintf(": %q", g.debug)
	}
	return text
}

func (s *session) handleWindowUpdate(f frame) error {
	if len(f.payload) != 4 {
		return protocolError("WINDOW_UPDATE of %d bytes", len(f.payload))
	}
	window := &s.connWindow
	if f.stream != 0 {
		st := s.find(f.stream)
		if st == nil {
			return s.checkClosed(f)
		}
		window = &st.window
	}
	increment := int64(binary.BigEndian.Uint32(f.payload) & maxWindow)
	if *window += increment; increment == 0 || *window > maxWindow {
		return protocolError("WINDOW_UPDATE by %d bytes", increment)
	}
	return nil
}

// handleHeaders reads the rest of the header block, for which no other frame may come between (RFC 9113, section 6.10).
func (s *session) handleHeaders(f frame) error {
	block, err := f.unpadded()
	if err != nil {
		return protocolError("%v", err)
	}
	end := f.has(flagEndStream)
	if !f.has(flagEndHeaders) {
		if block, err = s.continuations(f.stream, block); err != nil {
			return err
		}
	}
	// Decoded even for a stream that is gone: the compression has one state for the connection.
	headers, err := s.headers.decode(block)
	if err != nil {
		return protocolError("%v", err)
	}
	st := s.find(f.stream)
	if st == nil {
		return s.checkClosed(f)
	}
	s.idle = 0
	st.receiveHeaders(headers, end)
	return nil
}

func (s *session) continuations(id uint32, block []byte) ([]byte, error) {
	block = append([]byte(nil), block...)
	for {
		if err := s.flush(); err != nil {
			return nil, err
		}
		f, err := s.in.next()
		if err != nil {
			return nil, err
		}
		if f.kind != frameContinuation || f.stream != id {
			return nil, protocolError("header block is cut off by a frame of type %d", f.kind)
		}
		if err := s.countIdle(); err != nil {
			return nil, err
		}
		if len(block)+len(f.payload) > maxHeaderBytes {
			return nil, protocolError("%v", errHeadersTooLarge)
		}
		if block = append(block, f.payload...); f.has(flagEndHeaders) {
			return block, nil
		}
	}
}

func (s *session) handleData(f frame) error {
	data, err := f.unpadded()
	if err != nil {
		return protocolError("%v", err)
	}
	// Padding counts (RFC 9113, section 6.9.1).
	if s.taken += uint32(len(f.payload)); s.taken > defaultWindow {
		return protocolError("more DATA than the window allows")
	}
	st := s.find(f.stream)
	if st == nil {
		return s.checkClosed(f)
	}
	if len(data) > 0 || f.has(flagEndStream) {
		s.idle = 0
	}
	if st.taken += uint32(len(f.payload)); st.taken > defaultWindow {
		return protocolError("more DATA than the stream's window allows")
	}
	st.receiveData(data, f.has(flagEndStream))
	s.giveBack(0, &s.taken)
	if !st.done {
		s.giveBack(st.id, &st.taken)
	}
	return nil
}

// giveBack returns what was received to the server's window, when half of it is used up.
func (s *session) giveBack(id uint32, taken *uint32) {
	if *taken < defaultWindow/2 {
		return
	}
	s.out = appendFrame(s.out, frameWindowUpdate, 0, id, binary.BigEndian.AppendUint32(nil, *taken))
	*taken = 0
}

func (s *session) handleReset(f frame) error {
	if len(f.payload) != 4 || f.stream == 0 {
		return protocolError("bad RST_STREAM")
	}
	st := s.find(f.stream)
	if st == nil {
		return s.checkClosed(f)
	}
	s.idle = 0
	if code := binary.BigEndian.Uint32(f.payload); s.tooEager(st, code) {
		st.again()
	} else {
		st.receiveReset(code)
	}
	return nil
}

// checkClosed allows a frame on a stream of ours that is over (RFC 9113, section 5.1), and on no other.
func (s *session) checkClosed(f frame) error {
	if f.stream == 0 || f.stream%2 == 0 || f.stream >= s.nextID {
		return protocolError("frame of type %d on stream %d, which was never opened", f.kind, f.stream)
	}
	return nil
}

// find returns the stream with the id if it is open.
func (s *session) find(id uint32) *stream {
	for _, st := range s.streams {
		if st.id == id && id != 0 {
			return st
		}
	}
	return nil
}
