package lean

import (
	"encoding/binary"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/http2"
)

// maxDebug is the number of bytes kept of the text in a GOAWAY. A text for users is shorter.
const maxDebug = 256

func (s *session) handleSettings(f frame) error {
	if f.stream != 0 {
		return protocolError("SETTINGS on stream %d", f.stream)
	}
	if f.has(http2.FlagAck) {
		if len(f.payload) != 0 {
			return protocolError("bad acknowledgement of SETTINGS")
		}
		s.settled = true // as in grpc-go, the acknowledgement may come in place of the server's SETTINGS
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
	s.noneAllowed = s.noneAllowed || !s.settled && s.maxStreams == 0
	s.settled = true
	s.out = http2.AppendFrame(s.out, http2.FrameSettings, http2.FlagAck, 0, nil)
	return nil
}

func (s *session) apply(id uint16, value uint32) error {
	switch id {
	case http2.SettingHeaderTableSize:
		s.smallTable = value < http2.TableSize
	case http2.SettingMaxHeaderListSize:
		s.maxHeaders = value
	case http2.SettingMaxConcurrentStreams:
		s.maxStreams = value
	case http2.SettingInitialWindowSize:
		if value > http2.MaxWindow {
			return protocolError("initial window of %d bytes", value)
		}
		// The change also applies to open streams, and may make a window negative (RFC 9113 section 6.9.2).
		for _, st := range s.streams {
			st.window += int64(value) - s.window
		}
		s.window = int64(value)
	case http2.SettingMaxFrameSize:
		if value >= http2.MaxFrameSize && value <= 1<<24-1 { // grpc-go neither uses nor checks the size
			s.frameSize = int(value)
		}
	}
	return nil
}

// handlePriority ignores a PRIORITY frame of the right form (RFC 9113 section 6.3).
func (s *session) handlePriority(f frame) error {
	if f.stream == 0 || len(f.payload) != 5 {
		return protocolError("bad PRIORITY")
	}
	return nil
}

// handlePriorityUpdate ignores a PRIORITY_UPDATE frame of the right form (RFC 9218 section 7.1). The frame is for
// servers, but grpc-go insists on the form.
func (s *session) handlePriorityUpdate(f frame) error {
	if f.stream != 0 || len(f.payload) < 4 || binary.BigEndian.Uint32(f.payload)&(1<<31-1) == 0 {
		return protocolError("bad PRIORITY_UPDATE")
	}
	return nil
}

// handlePushPromise ignores a promise. Push was switched off, but grpc-go does not insist.
func (s *session) handlePushPromise(f frame) error {
	promise, err := f.unpadded()
	if err != nil || f.stream == 0 || len(promise) < 4 {
		return protocolError("bad PUSH_PROMISE")
	}
	return nil
}

func (s *session) handlePing(f frame) error {
	if f.stream != 0 || len(f.payload) != 8 {
		return protocolError("bad PING")
	}
	if !f.has(http2.FlagAck) {
		s.out = http2.AppendFrame(s.out, http2.FramePing, http2.FlagAck, 0, f.payload)
	}
	return nil
}

func (s *session) handleGoAway(f frame) error {
	if f.stream != 0 || len(f.payload) < 8 {
		return protocolError("bad GOAWAY")
	}
	s.goAway = &check.GoAwayError{
		Code:  binary.BigEndian.Uint32(f.payload[4:]),
		Debug: string(f.payload[8:min(len(f.payload), 8+maxDebug)]),
	}
	if !s.settled {
		return s.goAway
	}
	lastID := binary.BigEndian.Uint32(f.payload) & (1<<31 - 1)
	for _, st := range s.streams {
		// The server has accepted the calls up to lastID and may still answer them, whatever the error code is.
		if st.id == 0 || st.id > lastID {
			st.refuse(s.goAway)
		}
	}
	return nil
}

// handleWindowUpdate enlarges a window. As in grpc-go, a window may exceed the limit of RFC 9113 section 6.9.1.
func (s *session) handleWindowUpdate(f frame) error {
	if len(f.payload) != 4 {
		return protocolError("WINDOW_UPDATE of %d bytes", len(f.payload))
	}
	increment := int64(binary.BigEndian.Uint32(f.payload) & http2.MaxWindow)
	if f.stream != 0 {
		if st := s.find(f.stream); st != nil {
			if st.window += increment; increment == 0 {
				st.fail(internal, protocolError("WINDOW_UPDATE by 0 bytes").Error())
			}
		}
		return nil
	}
	if s.connWindow += increment; increment == 0 {
		return protocolError("WINDOW_UPDATE by 0 bytes")
	}
	return nil
}
