package lean

import (
	"encoding/binary"
	"errors"

	"github.com/grpc-cnb/health-probe/probe/http2"
)

// headerBlock is an incomplete header block.
type headerBlock struct {
	stream uint32
	end    bool // last block of the stream
	broken bool // the first frame was broken, so nothing is decoded
	bytes  []byte
}

// handleHeaders handles HEADERS. An incomplete block is kept until the rest has come.
func (s *session) handleHeaders(f frame) error {
	if f.stream == 0 {
		return protocolError("HEADERS on stream 0")
	}
	block, err := f.unpadded()
	_, broken := errors.AsType[paddingError](err)
	switch {
	case broken:
		s.breakStream(f.stream, err)
	case err != nil:
		return protocolError("%v", err)
	}
	if !f.has(http2.FlagEndHeaders) {
		s.partial = &headerBlock{f.stream, f.has(http2.FlagEndStream), broken, append([]byte(nil), block...)}
		return nil
	}
	if broken {
		return nil
	}
	return s.handleBlock(f, block, f.has(http2.FlagEndStream))
}

// breakStream ends the call of an open stream, for an error that grpc-go counts against the stream alone.
func (s *session) breakStream(id uint32, err error) {
	if st := s.find(id); st != nil {
		st.fail(internal, protocolError("%v", err).Error())
	}
}

// handleContinuation handles the frame after a part of a header block. Only CONTINUATION may follow (RFC 9113 section
// 6.10).
func (s *session) handleContinuation(f frame) error {
	partial := s.partial
	if f.kind != http2.FrameContinuation || f.stream != partial.stream {
		return protocolError("header block is cut off by a frame of type %d", f.kind)
	}
	if len(partial.bytes)+len(f.payload) > maxHeaderBytes {
		return protocolError("%v", &http2.TooLargeError{Limit: maxHeaderBytes})
	}
	partial.bytes = append(partial.bytes, f.payload...)
	if !f.has(http2.FlagEndHeaders) {
		return nil
	}
	s.partial = nil
	if partial.broken {
		return nil
	}
	return s.handleBlock(f, partial.bytes, partial.end)
}

// handleBlock handles a whole header block. The frame f has the last part.
func (s *session) handleBlock(f frame, block []byte, end bool) error {
	// A block is decoded even if the stream has ended, because the compression has one state for the connection.
	headers, err := s.headers.decode(block)
	if err != nil {
		return protocolError("%v", err)
	}
	st := s.find(f.stream)
	if st == nil {
		return nil
	}
	s.idle = 0
	st.receiveHeaders(headers, end)
	return nil
}

func (s *session) handleData(f frame) error {
	data, err := f.unpadded()
	if err != nil {
		return protocolError("%v", err)
	}
	if f.stream == 0 {
		return protocolError("DATA on stream 0")
	}
	// Padding counts (RFC 9113 section 6.9.1).
	if s.taken += uint32(len(f.payload)); s.taken > http2.DefaultWindow {
		return protocolError("more DATA than the window allows")
	}
	st := s.find(f.stream)
	if st == nil {
		return nil
	}
	if len(data) > 0 || f.has(http2.FlagEndStream) {
		s.idle = 0
	}
	if st.taken += uint32(len(f.payload)); st.taken > http2.DefaultWindow {
		return protocolError("more DATA than the stream's window allows")
	}
	st.receiveData(data, f.has(http2.FlagEndStream))
	s.giveBack(0, &s.taken)
	if !st.done {
		s.giveBack(st.id, &st.taken)
	}
	return nil
}

// giveBack enlarges the server's window by the received bytes, once half of the window is used up.
func (s *session) giveBack(id uint32, taken *uint32) {
	if *taken < http2.DefaultWindow/2 {
		return
	}
	s.out = http2.AppendFrame(s.out, http2.FrameWindowUpdate, 0, id, binary.BigEndian.AppendUint32(nil, *taken))
	*taken = 0
}

func (s *session) handleReset(f frame) error {
	if len(f.payload) != 4 || f.stream == 0 {
		return protocolError("bad RST_STREAM")
	}
	st := s.find(f.stream)
	if st == nil {
		return nil
	}
	s.idle = 0
	switch code := binary.BigEndian.Uint32(f.payload); {
	case st.started || st.sends >= maxSends || !s.isRefusal(st, code):
		st.receiveReset(code)
	case s.goAway != nil:
		st.refuse(s.goAway)
	default:
		st.again()
	}
	return nil
}

// find returns the open stream with the id, or nil. As in grpc-go, frames on any other stream mean nothing.
func (s *session) find(id uint32) *stream {
	for _, st := range s.streams {
		if st.id == id && id != 0 {
			return st
		}
	}
	return nil
}
