package lean

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// frameType is the type of an HTTP/2 frame (RFC 9113 section 6).
type frameType uint8

const (
	frameData         frameType = 0x0
	frameHeaders      frameType = 0x1
	frameRSTStream    frameType = 0x3
	frameSettings     frameType = 0x4
	framePushPromise  frameType = 0x5
	framePing         frameType = 0x6
	frameGoAway       frameType = 0x7
	frameWindowUpdate frameType = 0x8
	frameContinuation frameType = 0x9
)

// Frame flags (RFC 9113 section 6). An acknowledgement has the value of the end of a stream, on other frame types.
const (
	flagAck        = 0x1
	flagEndStream  = 0x1
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20
)

const (
	frameHeaderLen = 9
	// maxFrameSize is the largest payload taken: the default of SETTINGS_MAX_FRAME_SIZE, which is never raised.
	maxFrameSize = 16384
)

// frame is a frame from the server. Its payload is valid until the next frame is read.
type frame struct {
	kind    frameType
	flags   uint8
	stream  uint32
	payload []byte
}

func (f frame) has(flag uint8) bool { return f.flags&flag != 0 }

// frameReader reads frames from a server that cannot be trusted.
type frameReader struct {
	src io.Reader
	// buf[start:end] is what was read and not consumed yet. The buffer is small at first, because touching a page costs
	// more than the read itself, and grows up to one frame of the largest size.
	buf        []byte
	start, end int
}

func newFrameReader(src io.Reader) *frameReader {
	return &frameReader{src: src, buf: make([]byte, 1024)}
}

// buffered reports whether the whole next frame has already been read from the connection.
func (r *frameReader) buffered() bool {
	have := r.buf[r.start:r.end]
	return len(have) >= frameHeaderLen && len(have) >= frameHeaderLen+frameLen(have)
}

// firstBytes returns the first bytes that came on the connection, which are enough to recognize a protocol. They are
// valid until the second frame is read.
func (r *frameReader) firstBytes() []byte { return r.buf[:min(r.end, 16)] }

// peek returns the next n bytes without consuming them. With an error it returns those that have come.
func (r *frameReader) peek(n int) ([]byte, error) {
	for r.end-r.start < n {
		r.makeRoom(n)
		got, err := r.src.Read(r.buf[r.end:])
		r.end += got
		if err != nil && r.end-r.start < n {
			if err == io.EOF && r.end > r.start {
				err = io.ErrUnexpectedEOF
			}
			return r.buf[r.start:r.end], err
		}
	}
	return r.buf[r.start : r.start+n], nil
}

func (r *frameReader) makeRoom(n int) {
	if r.start > 0 {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
	if n > len(r.buf) {
		grown := make([]byte, max(n, min(4*len(r.buf), frameHeaderLen+maxFrameSize)))
		copy(grown, r.buf[:r.end])
		r.buf = grown
	}
}

// next reads one frame. A frame over maxFrameSize is an error of the connection (RFC 9113 section 4.2).
func (r *frameReader) next() (frame, error) {
	// The first byte is enough to see that, and a server that does not speak HTTP/2 may send only a few. An error is
	// not for reading on: the kernel tells it once, and then the end of the stream.
	first, err := r.peek(1)
	if err != nil {
		return frame{}, err
	}
	if first[0] != 0 {
		return frame{}, frameTooLarge()
	}
	header, err := r.peek(frameHeaderLen)
	if err != nil {
		return frame{}, err
	}
	size := frameLen(header)
	if size > maxFrameSize {
		return frame{}, frameTooLarge()
	}
	whole, err := r.peek(frameHeaderLen + size)
	if err != nil {
		return frame{}, err
	}
	r.start += len(whole)
	return frame{
		kind:    frameType(whole[3]),
		flags:   whole[4],
		stream:  binary.BigEndian.Uint32(whole[5:]) & (1<<31 - 1),
		payload: whole[frameHeaderLen:],
	}, nil
}

func frameTooLarge() error { return fmt.Errorf("frame is over the limit of %d bytes", maxFrameSize) }

func frameLen(header []byte) int {
	return int(header[0])<<16 | int(header[1])<<8 | int(header[2])
}

// unpadded returns the payload of a DATA or HEADERS frame without its padding and, on HEADERS, without its priority.
func (f frame) unpadded() ([]byte, error) {
	payload, padding := f.payload, 0
	if f.has(flagPadded) {
		if len(payload) == 0 {
			return nil, errors.New("padded frame without padding length")
		}
		padding, payload = int(payload[0]), payload[1:]
	}
	if f.kind == frameHeaders && f.has(flagPriority) {
		if len(payload) < 5 {
			return nil, errors.New("HEADERS frame too short for its priority")
		}
		payload = payload[5:]
	}
	if padding > len(payload) {
		return nil, fmt.Errorf("padding of %d bytes is longer than the frame", padding)
	}
	return payload[:len(payload)-padding], nil
}

// appendFrame appends one frame to b.
func appendFrame(b []byte, kind frameType, flags uint8, stream uint32, payload []byte) []byte {
	n := len(payload)
	b = append(b, byte(n>>16), byte(n>>8), byte(n), byte(kind), flags)
	b = binary.BigEndian.AppendUint32(b, stream)
	return append(b, payload...)
}
