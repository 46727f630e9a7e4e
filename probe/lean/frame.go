package lean

import (
	"errors"
	"fmt"
	"io"

	"github.com/grpc-cnb/health-probe/probe/http2"
)

// frame is a frame from the server. The payload is valid until the next frame is read.
type frame struct {
	kind    http2.FrameType
	flags   uint8
	stream  uint32
	payload []byte
}

func (f frame) has(flag uint8) bool { return f.flags&flag != 0 }

// frameReader reads frames from an untrusted server.
type frameReader struct {
	src io.Reader
	// buf[start:end] is read but not yet consumed. The buffer is small at first, because touching a page costs more
	// than the read itself. The buffer grows up to one frame of the largest size.
	buf        []byte
	start, end int
}

func newFrameReader(src io.Reader) *frameReader {
	return &frameReader{src: src, buf: make([]byte, 1024)}
}

// buffered reports whether the whole next frame has already been read from the connection.
func (r *frameReader) buffered() bool {
	have := r.buf[r.start:r.end]
	return len(have) >= http2.FrameHeaderLen && len(have) >= http2.FrameHeaderLen+http2.FrameLength(have)
}

// firstBytes returns the first bytes on the connection, enough to recognize a protocol. The bytes are valid until the
// second frame is read.
func (r *frameReader) firstBytes() []byte { return r.buf[:min(r.end, 512)] }

// peek returns the next n bytes without consuming them. With an error, peek returns the bytes that have come.
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
		grown := make([]byte, max(n, min(4*len(r.buf), http2.FrameHeaderLen+http2.MaxFrameSize)))
		copy(grown, r.buf[:r.end])
		r.buf = grown
	}
}

// next reads one frame. A frame over http2.MaxFrameSize is an error of the connection (RFC 9113 section 4.2).
func (r *frameReader) next() (frame, error) {
	// The first byte is enough to see a frame over the limit, and a server that does not speak HTTP/2 may send only a
	// few bytes. Do not read on after an error: the kernel reports the error once, and then the end of the stream.
	first, err := r.peek(1)
	if err != nil {
		return frame{}, err
	}
	if first[0] != 0 {
		return frame{}, frameTooLarge()
	}
	header, err := r.peek(http2.FrameHeaderLen)
	if err != nil {
		return frame{}, err
	}
	size := http2.FrameLength(header)
	if size > http2.MaxFrameSize {
		return frame{}, frameTooLarge()
	}
	whole, err := r.peek(http2.FrameHeaderLen + size)
	if err != nil {
		return frame{}, err
	}
	r.start += len(whole)
	parsed := http2.ParseFrameHeader(whole)
	return frame{
		kind: parsed.Type, flags: parsed.Flags, stream: parsed.Stream, payload: whole[http2.FrameHeaderLen:],
	}, nil
}

func frameTooLarge() error {
	return fmt.Errorf("frame is over the limit of %d bytes", http2.MaxFrameSize)
}

// unpadded returns the payload of a DATA or HEADERS frame without the padding, and without the priority of HEADERS.
func (f frame) unpadded() ([]byte, error) {
	payload, padding := f.payload, 0
	if f.has(http2.FlagPadded) {
		if len(payload) == 0 {
			return nil, errors.New("padded frame without padding length")
		}
		padding, payload = int(payload[0]), payload[1:]
	}
	if f.kind == http2.FrameHeaders && f.has(http2.FlagPriority) {
		if len(payload) < 5 {
			return nil, errors.New("HEADERS frame too short for its priority")
		}
		payload = payload[5:]
	}
	if padding > len(payload) {
		return nil, paddingError(padding)
	}
	return payload[:len(payload)-padding], nil
}

// paddingError is the number of padding bytes of a frame that is shorter than the padding.
type paddingError int

// Error names the number of bytes.
func (e paddingError) Error() string {
	return fmt.Sprintf("padding of %d bytes is longer than the frame", int(e))
}
