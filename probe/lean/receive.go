package lean

import "encoding/binary"

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
	if code := binary.BigEndian.Uint32(f.payload); s.mayRetry(st, code) {
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
