package grpcgo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strconv"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"

	"github.com/grpc-cnb/health-probe/probe/check"
)

// observer reads along with the server's bytes on one connection, since grpc-go hides some facts: the first bytes of a
// server that does not begin with SETTINGS, the reason for closing the connection, and whether the server has ended a
// call with a status at all (grpc-go reports UNKNOWN for none).
type observer struct {
	first  []byte // at most maxFirst
	begun  bool   // the first frame is SETTINGS
	goAway *check.GoAwayError
	// maxStreams is the number of calls that the server allows at once.
	maxStreams uint32
	pending    []byte // received part of an incomplete frame
	lost       bool   // the observer cannot follow any more
	buffer     bytes.Buffer
	framer     *http2.Framer
	decoder    *hpack.Decoder
	fields     map[string]string   // of the current header block
	ends       bool                // the current block ends the stream
	known      map[uint32]bool     // streams whose headers have come
	codes      map[codes.Code]bool // codes with which calls have ended
}

// maxFirst is the number of the server's first bytes to keep: enough to recognize a protocol.
const maxFirst = 16

const frameHeaderLen = 9

// maxFrame is the greatest payload that grpc-go accepts, in bytes, and maxDebug the number of bytes kept of the text in
// a GOAWAY.
const (
	maxFrame = 16384
	maxDebug = 256
)

// errNotSettings is for a server that does not speak HTTP/2, errBadSettings for a server whose first frame grpc-go
// rejects.
var (
	errNotSettings = errors.New("unexpected answer")
	errBadSettings = errors.New("server broke the HTTP/2 protocol in its SETTINGS frame")
)

// newObserver returns an observer that adds to codes.
func newObserver(codes map[codes.Code]bool) *observer {
	o := &observer{known: map[uint32]bool{}, codes: codes, maxStreams: math.MaxUint32}
	o.framer = http2.NewFramer(nil, &o.buffer)
	o.framer.AllowIllegalReads = true
	o.decoder = hpack.NewDecoder(4096, func(f hpack.HeaderField) { o.fields[f.Name] = f.Value })
	o.decoder.SetMaxStringLength(maxHeaderList)
	return o
}

// read takes bytes as they come. The error comes as soon as the server clearly does not begin with SETTINGS: otherwise
// the probe and the server could wait for each other after a few bytes of another protocol.
func (o *observer) read(data []byte) error {
	o.first = append(o.first, data[:min(len(data), maxFirst-len(o.first))]...)
	if o.lost {
		return nil
	}
	o.pending = append(o.pending, data...)
	if err := o.checkFirst(); err != nil {
		return err
	}
	for len(o.pending) >= frameHeaderLen && !o.lost {
		size := frameHeaderLen + int(o.pending[0])<<16 + int(o.pending[1])<<8 + int(o.pending[2])
		if size > frameHeaderLen+maxFrame {
			o.lost = true
			return nil
		}
		if len(o.pending) < size {
			return nil
		}
		o.buffer.Write(o.pending[:size])
		o.pending = o.pending[size:]
		o.frame()
		if o.goAway != nil && !o.begun {
			return o.goAway
		}
	}
	return nil
}

// unread returns the number of missing bytes of the current frame, as far as known; 0 if the observer cannot follow.
func (o *observer) unread() int {
	if o.lost {
		return 0
	}
	size := frameHeaderLen
	if len(o.pending) >= frameHeaderLen {
		size += int(o.pending[0])<<16 + int(o.pending[1])<<8 + int(o.pending[2])
	}
	return size - len(o.pending)
}

// checkFirst fails if the first frame is neither SETTINGS nor GOAWAY. A frame begins with the length in three bytes.
// The first byte is zero, because the length is at most 16 KiB (RFC 9113 section 4.2).
func (o *observer) checkFirst() error {
	if o.begun || len(o.first) == 0 {
		return nil
	}
	if o.first[0] != 0 {
		return errNotSettings
	}
	if len(o.first) < frameHeaderLen {
		return nil
	}
	kind := http2.FrameType(o.first[3])
	connection := binary.BigEndian.Uint32(o.first[5:])&(1<<31-1) == 0
	o.begun = connection && kind == http2.FrameSettings
	if !o.begun && (kind != http2.FrameGoAway || !connection) {
		return errNotSettings
	}
	return nil
}

// frame takes the frame in the buffer. Errors in frames are left to grpc-go.
func (o *observer) frame() {
	frame, err := o.framer.ReadFrame()
	if err != nil {
		o.buffer.Reset()
		return
	}
	switch frame := frame.(type) {
	case *http2.GoAwayFrame:
		debug := frame.DebugData()
		o.goAway = &check.GoAwayError{Code: uint32(frame.ErrCode), Debug: string(debug[:min(len(debug), maxDebug)])}
	case *http2.SettingsFrame:
		if limit, ok := frame.Value(http2.SettingMaxConcurrentStreams); ok {
			o.maxStreams = limit
		}
	case *http2.HeadersFrame:
		o.fields, o.ends = map[string]string{}, frame.StreamEnded()
		o.block(frame.StreamID, frame.HeaderBlockFragment(), frame.HeadersEnded())
	case *http2.ContinuationFrame:
		o.block(frame.StreamID, frame.HeaderBlockFragment(), frame.HeadersEnded())
	}
}

// block takes a part of a header block. The last block of a stream has to have a gRPC status, and the first block an
// HTTP status (gRPC over HTTP/2, "Responses").
func (o *observer) block(stream uint32, part []byte, last bool) {
	if o.fields == nil {
		return // a CONTINUATION of nothing: grpc-go ends the connection
	}
	if _, err := o.decoder.Write(part); err != nil {
		o.lost = true
		return
	}
	if !last {
		return
	}
	o.lost = o.decoder.Close() != nil
	code, err := strconv.ParseInt(o.fields["grpc-status"], 10, 32)
	if o.ends && err == nil && (o.known[stream] || o.fields[":status"] != "" || o.fields["content-type"] != "") {
		o.codes[codes.Code(uint32(code))] = true
	}
	o.known[stream] = true
}
