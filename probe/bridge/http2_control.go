package bridge

import (
	"encoding/binary"

	"github.com/grpc-cnb/health-probe/probe/http2"
)

func (c *conn) handleSettings(f http2.FrameHeader) error {
	s := &c.http2
	switch {
	case f.Stream != 0 || f.Has(http2.FlagAck) && !s.settled:
		return protocolError(http2.CodeProtocol)
	case f.Length%6 != 0 || f.Has(http2.FlagAck) && f.Length != 0:
		return protocolError(http2.CodeFrameSize)
	case f.Has(http2.FlagAck):
		return nil
	}
	for range f.Length / 6 {
		b, err := c.payload(6)
		if err != nil {
			return err
		}
		if err := c.apply(binary.BigEndian.Uint16(b), binary.BigEndian.Uint32(b[2:])); err != nil {
			return err
		}
	}
	s.settled = true
	return write(c, http2.AppendFrame(nil, http2.FrameSettings, http2.FlagAck, 0, nil))
}

// apply applies a setting of the caller.
func (c *conn) apply(id uint16, value uint32) error {
	s := &c.http2
	switch id {
	case http2.SettingHeaderTableSize:
		s.smallTable = s.smallTable || value < http2.TableSize
	case http2.SettingEnablePush:
		if value > 1 {
			return protocolError(http2.CodeProtocol)
		}
	case http2.SettingInitialWindowSize:
		if value > http2.MaxWindow {
			return protocolError(http2.CodeFlowControl)
		}
		for i := range c.streams { // the windows of streams that are open may become negative (RFC 9113 section 6.9.2)
			if c.streams[i].window += int64(value) - s.window; c.streams[i].window > http2.MaxWindow {
				return protocolError(http2.CodeFlowControl)
			}
		}
		s.window = int64(value)
	case http2.SettingMaxFrameSize:
		if value < http2.MaxFrameSize || value > 1<<24-1 {
			return protocolError(http2.CodeProtocol)
		}
	}
	return nil
}

func (c *conn) handlePing(f http2.FrameHeader) error {
	if f.Stream != 0 {
		return protocolError(http2.CodeProtocol)
	}
	if f.Length != 8 {
		return protocolError(http2.CodeFrameSize)
	}
	b, err := c.payload(8)
	if err != nil || f.Has(http2.FlagAck) {
		return err
	}
	return write(c, http2.AppendFrame(nil, http2.FramePing, http2.FlagAck, 0, b))
}

func (c *conn) handleWindowUpdate(f http2.FrameHeader) error {
	if f.Length != 4 {
		return protocolError(http2.CodeFrameSize)
	}
	b, err := c.payload(4)
	if err != nil {
		return err
	}
	window := &c.http2.connWindow
	if f.Stream != 0 {
		if err := c.checkOpened(f.Stream); err != nil {
			return err
		}
		st := c.find(f.Stream)
		if st == nil {
			return nil
		}
		window = &st.window
	}
	increment := int64(binary.BigEndian.Uint32(b) & http2.MaxWindow)
	switch *window += increment; {
	case (increment == 0 || *window > http2.MaxWindow) && f.Stream != 0:
		return c.resetStream(f.Stream, http2.CodeFlowControl)
	case increment == 0:
		return protocolError(http2.CodeProtocol)
	case *window > http2.MaxWindow:
		return protocolError(http2.CodeFlowControl)
	}
	return nil
}
