package bridge

import (
	"encoding/binary"
	"errors"
	"strconv"
	"time"

	"github.com/grpc-cnb/health-probe/probe/http2"
)

// streamWindow is how much a caller may send of a request unread, in bytes: a message of the greatest size, and a part
// of a larger one until the error arrives.
const streamWindow = 4 << 10

// session is the state of an HTTP/2 connection besides its streams (RFC 9113, the server's side).
type session struct {
	block       [maxHead]byte // block[:blockLength] has arrived of a header block
	blockLength int
	blockStream uint32 // 0 if no block is incomplete
	blockEnds   bool   // the stream ends with the block
	decoder     http2.Decoder
	request     request // of the block

	settled    bool   // the caller's SETTINGS have arrived
	lastID     uint32 // of the caller's streams
	window     int64  // of a new stream: how much the caller takes
	connWindow int64  // of the connection
	unreturned uint32 // DATA that the caller's window of the connection still lacks
	smallTable bool   // the next header block has to announce a table of size 0
}

func (s *session) reset() {
	s.blockLength, s.blockStream, s.settled, s.lastID, s.unreturned, s.smallTable = 0, 0, false, 0, 0, false
	s.window, s.connWindow = http2.DefaultWindow, http2.DefaultWindow
	s.decoder.Reset(maxHead)
}

// protocolError is the code of a caller's error that ends the connection.
type protocolError uint32

// Error returns the code.
func (e protocolError) Error() string { return strconv.Itoa(int(e)) }

// serveHTTP2 serves a connection after its preface.
func (c *conn) serveHTTP2() {
	err := write(c, ownSettings)
	for err == nil {
		err = c.receiveFrame()
	}
	code := uint32(http2.CodeNoError)
	switch wrong, isWrong := errors.AsType[protocolError](err); {
	case isWrong:
		code = uint32(wrong)
	case errors.Is(err, errTooMuch):
		code = http2.CodeEnhanceYourCalm
	case !errors.Is(err, errIdle) && !errors.Is(err, errStopping):
		return // the caller is gone
	}
	payload := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, c.http2.lastID), code)
	if write(c, http2.AppendFrame(nil, http2.FrameGoAway, 0, 0, payload)) == nil {
		_ = c.flush() // the caller may not take it
	}
}

// ownSettings is the first frame of the bridge.
var ownSettings = func() []byte {
	b := http2.AppendSetting(nil, http2.SettingMaxConcurrentStreams, maxStreams)
	b = http2.AppendSetting(b, http2.SettingInitialWindowSize, streamWindow)
	b = http2.AppendSetting(b, http2.SettingMaxHeaderListSize, maxHead)
	b = http2.AppendSetting(b, http2.SettingBridge, 1)
	return http2.AppendFrame(nil, http2.FrameSettings, 0, 0, b)
}()

func (c *conn) receiveFrame() error {
	if err := c.need(1); err != nil {
		return err
	}
	if c.partialSince.IsZero() {
		c.partialSince = time.Now()
	}
	if err := c.need(http2.FrameHeaderLen); err != nil {
		return err
	}
	f := http2.ParseFrameHeader(c.in[c.start:])
	c.start += http2.FrameHeaderLen
	if f.Length > http2.MaxFrameSize {
		return protocolError(http2.CodeFrameSize)
	}
	if err := c.spend(1 + f.Length/byteShare); err != nil {
		return err
	}
	if err := c.handle(f); err != nil {
		return err
	}
	if c.http2.blockStream == 0 {
		c.partialSince = time.Time{}
	}
	return nil
}

// handle handles a frame after its header.
func (c *conn) handle(f http2.FrameHeader) error {
	s := &c.http2
	if s.blockStream != 0 && (f.Type != http2.FrameContinuation || f.Stream != s.blockStream) ||
		s.blockStream == 0 && f.Type == http2.FrameContinuation || !s.settled && f.Type != http2.FrameSettings {
		return protocolError(http2.CodeProtocol)
	}
	switch f.Type {
	case http2.FrameHeaders:
		return c.handleHeaders(f)
	case http2.FrameContinuation:
		return c.handleBlock(f, f.Length)
	case http2.FrameData:
		return c.handleData(f)
	case http2.FrameSettings:
		return c.handleSettings(f)
	case http2.FramePing:
		return c.handlePing(f)
	case http2.FrameRSTStream:
		return c.handleReset(f)
	case http2.FrameWindowUpdate:
		return c.handleWindowUpdate(f)
	case http2.FramePushPromise:
		return protocolError(http2.CodeProtocol)
	case http2.FramePriority:
		if f.Stream == 0 {
			return protocolError(http2.CodeProtocol)
		} else if f.Length != 5 {
			return protocolError(http2.CodeFrameSize)
		}
	case http2.FrameGoAway:
		if f.Stream != 0 {
			return protocolError(http2.CodeProtocol)
		} else if f.Length < 8 {
			return protocolError(http2.CodeFrameSize)
		}
	}
	return c.skip(f.Length) // PRIORITY, GOAWAY and unknown types
}

// payload returns a payload of at most len(c.in) bytes, which is valid until the next read.
func (c *conn) payload(length int) ([]byte, error) {
	if err := c.need(length); err != nil {
		return nil, err
	}
	c.start += length
	return c.in[c.start-length : c.start], nil
}
