package grpcgo

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"
)

// sent returns the frames that a server writes.
func sent(write func(*http2.Framer)) string {
	var b bytes.Buffer
	write(http2.NewFramer(&b, nil))
	return b.String()
}

// header begins a frame of a length.
func header(length int, kind http2.FrameType, stream byte) string {
	return string([]byte{byte(length >> 16), byte(length >> 8), byte(length), byte(kind), 0, 0, 0, 0, stream})
}

var settings = sent(func(f *http2.Framer) { _ = f.WriteSettings() })

func TestServerHasToBeginWithSettings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sends string
		want  error
	}{
		"SETTINGS":              {settings, nil},
		"a part of SETTINGS":    {settings[:8], nil},
		"another frame":         {header(8, http2.FramePing, 0), errNotSettings},
		"SETTINGS of a stream":  {header(0, http2.FrameSettings, 1), errNotSettings},
		"GOAWAY of a stream":    {header(8, http2.FrameGoAway, 1), errNotSettings},
		"a part of GOAWAY":      {header(8, http2.FrameGoAway, 0), nil},
		"another protocol":      {"S", errNotSettings},
		"a frame that is large": {"\x01\x00\x00", errNotSettings},
	} {
		if err := newObserver(nil).read([]byte(test.sends)); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}

// Of a GOAWAY that comes first, the text is the reason; how much of it is kept does not depend on the server.
func TestTextOfGoAwayIsBounded(t *testing.T) {
	t.Parallel()
	o := newObserver(nil)
	text := strings.Repeat("x", 300)
	err := o.read([]byte(sent(func(f *http2.Framer) { _ = f.WriteGoAway(0, http2.ErrCodeNo, []byte(text)) })))
	if o.goAway == nil || !errors.Is(err, o.goAway) || o.goAway.Debug != text[:256] {
		t.Errorf("the reason is %v", err)
	}
	if len(o.first) != 16 {
		t.Errorf("%d of the first bytes are kept", len(o.first))
	}
}

func TestEachFrameIsReadAlone(t *testing.T) {
	t.Parallel()
	const length = 0x0204 // bytes
	frame := header(length, http2.FrameSettings, 0) + strings.Repeat("\x00", length)
	for come, want := range map[int]int{0: 9, 1: 8, 8: 1, 9: length, 10: length - 1, len(frame): 9} {
		o := newObserver(nil)
		if err := o.read([]byte(frame[:come])); err != nil || o.unread() != want {
			t.Errorf("after %d bytes %d are unread, want %d; error %v", come, o.unread(), want, err)
		}
	}
}

func TestFrameOverTheLimitIsNotFollowed(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]bool{16384: false, 16385: true} {
		o := newObserver(nil)
		if err := o.read([]byte(settings + header(size, http2.FrameData, 1))); err != nil || o.lost != want {
			t.Errorf("a frame of %d bytes: not followed %t, error %v", size, o.lost, err)
		}
	}
}

// A code counts if the server has ended a call with it, and if a status of HTTP or a content type begins the answer.
func TestCodesThatAServerHasSent(t *testing.T) {
	t.Parallel()
	const code = codes.Unavailable
	for name, test := range map[string]struct {
		blocks []string // the last one ends the stream, unless it is "..."
		want   bool
	}{
		"trailers":                     {[]string{":status: 200", "grpc-status: 14"}, true},
		"trailers alone":               {[]string{":status: 200, grpc-status: 14"}, true},
		"without a status of HTTP":     {[]string{"content-type: a, grpc-status: 14"}, true},
		"of no answer":                 {[]string{"grpc-status: 14"}, false},
		"without a code":               {[]string{":status: 200", "grpc-message: 14"}, false},
		"with what is no code":         {[]string{":status: 200", "grpc-status: x"}, false},
		"with another code":            {[]string{":status: 200", "grpc-status: 12"}, false},
		"that do not end the call":     {[]string{":status: 200, grpc-status: 14", "..."}, false},
		"after others with that code":  {[]string{":status: 200, grpc-status: 14", "grpc-status: 12"}, false},
		"two that are told one by one": {[]string{":status: 200", "a: b, grpc-status: 14"}, true},
	} {
		observed := map[codes.Code]bool{}
		o := newObserver(observed)
		err := o.read([]byte(settings + sent(func(f *http2.Framer) {
			var coded bytes.Buffer
			encoder := hpack.NewEncoder(&coded)
			for i, block := range test.blocks {
				if block == "..." {
					return
				}
				coded.Reset()
				for line := range strings.SplitSeq(block, ", ") {
					name, value, _ := strings.Cut(line, ": ")
					_ = encoder.WriteField(hpack.HeaderField{Name: name, Value: value})
				}
				half := coded.Len() / 2
				_ = f.WriteHeaders(http2.HeadersFrameParam{
					StreamID: 1, BlockFragment: coded.Bytes()[:half], EndStream: i == len(test.blocks)-1,
				})
				_ = f.WriteContinuation(1, true, coded.Bytes()[half:])
			}
		})))
		if err != nil || o.lost || observed[code] != test.want {
			t.Errorf("%s: %s, error %v; want %v: %t", name, fmt.Sprint(observed), err, code, test.want)
		}
	}
}
