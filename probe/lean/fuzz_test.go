package lean

import (
	"bytes"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"

	xnet "golang.org/x/net/http2"

	"github.com/grpc-cnb/health-probe/probe/http2"
)

// wire is the network of a server that has sent all its bytes before, of which the client reads chunk bytes at a time.
type wire struct {
	in    *bytes.Reader
	chunk int
	out   bytes.Buffer
}

func (w *wire) Read(b []byte) (int, error) { return w.in.Read(b[:min(len(b), w.chunk)]) }

func (w *wire) Write(b []byte) (int, error) { return w.out.Write(b) }

func newWire(in []byte, chunk uint8) *wire {
	return &wire{in: bytes.NewReader(in), chunk: int(chunk) + 1}
}

// The frames in a stream of bytes do not depend on how the network cuts it, and nothing else is read from it.
func FuzzFrames(f *testing.F) {
	whole := http2.AppendFrame(nil, http2.FrameSettings, 0, 0, nil)
	f.Add(whole, uint8(0))
	f.Add(append(whole, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0), uint8(255))
	largest := bytes.Repeat([]byte("x"), http2.MaxFrameSize)
	f.Add(http2.AppendFrame(whole, http2.FrameData, 0xff, 1<<31-1, largest), uint8(255))
	f.Fuzz(func(t *testing.T, in []byte, chunk uint8) {
		r, rest := newFrameReader(newWire(in, chunk)), in
		for {
			frame, err := r.next()
			if err != nil {
				break
			}
			again := http2.AppendFrame(nil, frame.kind, frame.flags, frame.stream, frame.payload)
			head := append([]byte(nil), rest[:len(again)]...)
			head[5] &= 0x7f // The bit that is reserved.
			if !bytes.Equal(again, head) {
				t.Fatalf("frame %+v is not what came: %x", frame, head)
			}
			rest = rest[len(again):]
		}
		left := len(rest) - http2.FrameHeaderLen
		if left >= 0 && http2.FrameLength(rest) <= min(http2.MaxFrameSize, left) {
			t.Errorf("whole frame is left unread: %x", rest)
		}
		if len(r.buf) > http2.FrameHeaderLen+http2.MaxFrameSize {
			t.Errorf("buffer has grown to %d bytes", len(r.buf))
		}
	})
}

// Escaped text is decoded to what it was, and valid escapes are decoded as package net/url does.
func FuzzPercentDecode(f *testing.F) {
	for _, s := range []string{"", "plain", "%", "%4", "%41", "%zz%20%", "%e4%b8%96", "%+1%-1%_1", "100%%25"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := percentDecode(url.PathEscape(s)); got != s {
			t.Errorf("%q comes back as %q", s, got)
		}
		got := percentDecode(s)
		if want, err := url.PathUnescape(s); err == nil && got != want {
			t.Errorf("%q is read as %q, want %q", s, got, want)
		}
		if len(got) > len(s) {
			t.Errorf("%q has grown to %q", s, got)
		}
	})
}

// Whatever a server sends, both calls end when it ends. What the client sends is valid HTTP/2, and no more than it
// should be.
func FuzzSession(f *testing.F) {
	f.Add([]byte{}, uint8(255))
	f.Fuzz(func(t *testing.T, in []byte, chunk uint8) {
		w := newWire(in, chunk)
		s := newSession(w)
		message := envelope(appendCheckRequest(nil, strings.Repeat("a", 70_000)), false)
		calls := []*stream{
			newStream(encodeHeaders([]header{{":method", "POST"}}), message),
			newStream(nil, envelope(nil, false)),
		}
		s.add(calls...)
		for _, call := range calls {
			call.message = func(b []byte) error { _, err := parseCheckResponse(b); return err }
		}
		if err := s.run(func() bool { return calls[0].done && calls[1].done }); err == nil &&
			!(calls[0].done && calls[1].done) {
			t.Error("neither an error nor an outcome")
		}
		sent := w.out.Len()
		checkSent(t, &w.out)
		if limit := len(message) + 1000 + 2*len(in); sent > limit {
			t.Errorf("%d bytes sent for %d received, want at most %d", sent, len(in), limit)
		}
	})
}

// checkSent reads what a client has sent with the framer of golang.org/x/net, as a server does.
func checkSent(t *testing.T, sent *bytes.Buffer) {
	t.Helper()
	if sent.Len() == 0 {
		return
	}
	if got := string(sent.Next(len(xnet.ClientPreface))); got != xnet.ClientPreface {
		t.Errorf("preface is %q", got)
	}
	framer := xnet.NewFramer(io.Discard, sent)
	for {
		if _, err := framer.ReadFrame(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("client sent a bad frame: %v", err)
		}
	}
}
