package bridge

import (
	"encoding/binary"
	"errors"

	"github.com/grpc-cnb/health-probe/probe/http2"
)

// unpadded reads the fields before the content of a DATA or HEADERS frame, and returns the lengths of the content and
// of the padding.
func (c *conn) unpadded(f http2.FrameHeader) (length, padding int, err error) {
	before := 0
	if f.Has(http2.FlagPadded) {
		before++
	}
	if f.Type == http2.FrameHeaders && f.Has(http2.FlagPriority) {
		before += 5
	}
	if before > f.Length {
		return 0, 0, protocolError(http2.CodeFrameSize)
	}
	b, err := c.payload(before)
	if err != nil {
		return 0, 0, err
	}
	if f.Has(http2.FlagPadded) {
		padding = int(b[0])
	}
	if length = f.Length - before - padding; length < 0 {
		return 0, 0, protocolError(http2.CodeProtocol)
	}
	return length, padding, nil
}

// handleHeaders begins a header block.
func (c *conn) handleHeaders(f http2.FrameHeader) error {
	if f.Stream%2 == 0 {
		return protocolError(http2.CodeProtocol)
	}
	length, padding, err := c.unpadded(f)
	if err != nil {
		return err
	}
	s := &c.http2
	s.blockStream, s.blockLength, s.blockEnds = f.Stream, 0, f.Has(http2.FlagEndStream)
	if padding == 0 {
		return c.handleBlock(f, length)
	}
	flags := f.Flags
	f.Flags &^= http2.FlagEndHeaders
	if err := c.handleBlock(f, length); err != nil {
		return err
	}
	if err := c.skip(padding); err != nil {
		return err
	}
	f.Flags = flags
	return c.handleBlock(f, 0)
}

// handleBlock adds a part of a header block, and handles the request after the last part.
func (c *conn) handleBlock(f http2.FrameHeader, length int) error {
	s := &c.http2
	if s.blockLength+length > len(s.block) {
		return protocolError(http2.CodeEnhanceYourCalm)
	}
	if err := c.eachPart(length, func(part []byte) error {
		s.blockLength += copy(s.block[s.blockLength:], part)
		return nil
	}); err != nil || !f.Has(http2.FlagEndHeaders) {
		return err
	}
	s.request = request{}
	if err := c.shared.decode(&s.decoder, s.block[:s.blockLength], s.request.take); err != nil {
		if _, ok := errors.AsType[*http2.TooLargeError](err); ok {
			return protocolError(http2.CodeEnhanceYourCalm)
		}
		return protocolError(http2.CodeCompression)
	}
	s.blockStream = 0
	return c.handleRequest(f.Stream, s.blockEnds)
}

// handleRequest handles the head of a request, or its trailers.
func (c *conn) handleRequest(id uint32, ended bool) error {
	s := &c.http2
	if id <= s.lastID {
		st := c.find(id)
		switch {
		case st == nil:
			return nil // the answer was sent before the trailers arrived
		case !ended || st.ended:
			return c.resetStream(id, http2.CodeProtocol)
		}
		return st.endMessage()
	}
	s.lastID = id
	if !s.request.isComplete() {
		return c.resetStream(id, http2.CodeProtocol)
	}
	st := c.find(0)
	if st == nil || c.shared.stopping.Load() {
		return c.resetStream(id, http2.CodeRefusedStream)
	}
	st.open(id, &s.request, ended)
	st.headCost = s.blockLength / byteShare
	st.window = s.window
	if st.request.grpc {
		return st.beginCall()
	}
	return st.beginPage()
}

// find returns the stream with an id, or a free one for 0; nil if there is none.
func (c *conn) find(id uint32) *stream {
	for i := range c.streams {
		if st := &c.streams[i]; id == 0 && st.wants == wantsNone || id != 0 && st.wants != wantsNone && st.id == id {
			return st
		}
	}
	return nil
}

// resetStream ends a stream with an error.
func (c *conn) resetStream(id uint32, code uint32) error {
	if st := c.find(id); st != nil {
		st.close()
	}
	return write(c, http2.AppendFrame(nil, http2.FrameRSTStream, 0, id, binary.BigEndian.AppendUint32(nil, code)))
}

// checkOpened returns an error for a frame on a stream that was never opened.
func (c *conn) checkOpened(id uint32) error {
	if id == 0 || id%2 == 0 || id > c.http2.lastID {
		return protocolError(http2.CodeProtocol)
	}
	return nil
}

func (c *conn) handleData(f http2.FrameHeader) error {
	if err := c.checkOpened(f.Stream); err != nil {
		return err
	}
	length, padding, err := c.unpadded(f)
	if err != nil {
		return err
	}
	if err := c.eachPart(length, func(part []byte) error {
		if st := c.find(f.Stream); st != nil && !st.ended {
			return st.receive(part)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := c.skip(padding); err != nil {
		return err
	}
	s := &c.http2
	if s.unreturned += uint32(f.Length); s.unreturned >= http2.DefaultWindow/4 {
		update := binary.BigEndian.AppendUint32(nil, s.unreturned)
		s.unreturned = 0
		if err := write(c, http2.AppendFrame(nil, http2.FrameWindowUpdate, 0, 0, update)); err != nil {
			return err
		}
	}
	st := c.find(f.Stream)
	if st == nil {
		return nil // the stream was answered, or reset by the caller
	}
	if st.ended {
		return c.resetStream(f.Stream, http2.CodeStreamClosed)
	}
	if f.Has(http2.FlagEndStream) {
		return st.endMessage()
	}
	return nil
}

func (c *conn) handleReset(f http2.FrameHeader) error {
	if err := c.checkOpened(f.Stream); err != nil {
		return err
	}
	if f.Length != 4 {
		return protocolError(http2.CodeFrameSize)
	}
	if _, err := c.payload(4); err != nil {
		return err
	}
	if st := c.find(f.Stream); st != nil {
		st.close()
	}
	return nil
}
