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

// observer reads along what the server sends on one connection, since grpc-go keeps quiet about some of it: how a
// server begins that does not begin with SETTINGS, why it closes the connection, and whether it has ended a call with a
// status at all, for which grpc-go puts UNKNOWN in its place.
type observer struct {
	first  []byte // the first bytes
	begun  bool   // the first frame is SETTINGS
	goAway *check.GoAwayError
	// maxStreams is how many calls the server allows at once.
	maxStreams uint32
	pending    []byte // what has come of a frame that is not complete
	lost       bool   // it cannot follow any more
	buffer     bytes.Buffer
	framer     *http2.Framer
	decoder    *hpack.Decoder
	fields     map[string]string   // of the header block that is being read
	ends       bool                // that block ends its stream
	known      map[uint32]bool     // streams whose headers have come
	codes      map[codes.Code]bool // the codes that calls have ended with
}

// maxFirst is how many of the server's first bytes are kept: enough to recognize a protocol.
const maxFirst = 16

const frameHeaderLen = 9

// maxFrame is the greatest payload that grpc-go takes, and maxDebug how much of the text in a GOAWAY is kept.
const (
	maxFrame = 16384
	maxDebug = 256
)

// errNotSettings is for a server that sends something other than HTTP/2, errBadSettings for one whose first frame
// grpc-go does not take.
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

// read takes bytes as they come. It fails as soon as it is clear that the server does not begin with SETTINGS:
// otherwise the probe would wait for a server that sends a few bytes of something else and then waits itself.
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

// unread returns how many bytes of the frame that is coming have not come yet, as far as that is known; 0 if the
// observer cannot follow any more.
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

// checkFirst fails if the first frame is neither SETTINGS nor GOAWAY. A frame begins with its length in three bytes, of
// which the first is zero, because the length is at most 16 KiB (RFC 9113 section 4.2).
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

// frame takes the frame in the buffer. It leaves finding what is wrong with one to grpc-go.
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

// block takes a part of a header block. The last one that ends a stream has to have a status of gRPC, and the first one
// of a stream a status of HTTP (gRPC over HTTP/2, "Responses").
func (o *observer) block(stream uint32, part []byte, last bool) {
	if o.fields == nil {
		return // a CONTINUATION of nothing, for which grpc-go ends the connection
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
