package bridge

import (
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// A call that is no valid request of HTTP/2 (RFC 9113 section 8) is reset, and the connection goes on.
func TestMalformedCallsAreReset(t *testing.T) {
	t.Parallel()
	server := startServer(t, t.TempDir())
	addr, _ := startBridge(t, "-addr="+server.Addr)
	for name, c := range map[string]struct {
		fields []string
		reset  bool
	}{
		"nothing more":            {nil, false},
		"a field of the caller":   {[]string{"x-a_b.c|d~", "a b\t\xff"}, false},
		"connection":              {[]string{"connection", "close"}, true},
		"proxy-connection":        {[]string{"proxy-connection", "close"}, true},
		"keep-alive":              {[]string{"keep-alive", "timeout=5"}, true},
		"transfer-encoding":       {[]string{"transfer-encoding", "chunked"}, true},
		"upgrade":                 {[]string{"upgrade", "h2c"}, true},
		"te that is not trailers": {[]string{"te", "gzip"}, true},
		"a capital":               {[]string{"X-a", "b"}, true},
		"a bracket in a name":     {[]string{"x[a]", "b"}, true},
		"a brace in a name":       {[]string{"x{a}", "b"}, true},
		"a name with a space":     {[]string{"x a", "b"}, true},
		"a line break":            {[]string{"x-a", "a\nb"}, true},
		"a late pseudo-header":    {[]string{":authority", "b"}, true},
		"an unknown one":          {[]string{":protocol", "websocket"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if reset := isReset(t, addr, headers(checkPath, c.fields...)); reset != c.reset {
				t.Errorf("the call is reset: %t, want %t", reset, c.reset)
			}
		})
	}
}

// An authority has no userinfo (RFC 9113 section 8.3.1), nor what no host has.
func TestCallsToWhatIsNoHostAreReset(t *testing.T) {
	t.Parallel()
	server := startServer(t, t.TempDir())
	addr, _ := startBridge(t, "-addr="+server.Addr)
	for authority, want := range map[string]bool{
		"": false, "10.0.0.1:9090": false, "[fe80::1%25eth0]:9090": false, "a_b.example.com": false,
		"@": true, "user:secret@a": true, "a/b": true, "a b": true,
	} {
		if reset := isReset(t, addr, headersTo(authority, checkPath)); reset != want {
			t.Errorf("a call to %q is reset: %t, want %t", authority, reset, want)
		}
		if authority == "" {
			continue
		}
		if reset := isReset(t, addr, headersTo("", checkPath, "host", authority)); reset != want {
			t.Errorf("a call with the host %q is reset: %t, want %t", authority, reset, want)
		}
	}
}

// isReset makes a call with a header block, and another one after it, and reports whether the first was reset.
func isReset(t *testing.T, addr string, block []byte) bool {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(hangs)) // it fails only after Close
	calls := framed(func(f *http2.Framer) {
		begin(f, 1, block)
		_ = f.WriteData(1, true, message(""))
		begin(f, 3, headers(checkPath))
		_ = f.WriteData(3, true, message(""))
	})
	if _, err := conn.Write(calls); err != nil {
		t.Fatal(err)
	}
	return resetUntilBothEnd(t, conn)
}

// resetUntilBothEnd reads frames until the calls 1 and 3 have ended, and reports whether 1 was reset for an error of
// the protocol. 3 may not be.
func resetUntilBothEnd(t *testing.T, conn net.Conn) (reset bool) {
	t.Helper()
	framer := http2.NewFramer(nil, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	ended := map[uint32]bool{}
	for !ended[1] || !ended[3] {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatalf("reading a frame, with the calls that have ended %v: %v", ended, err)
		}
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			ended[frame.StreamID] = ended[frame.StreamID] || frame.StreamEnded()
		case *http2.RSTStreamFrame:
			if frame.StreamID != 1 || frame.ErrCode != http2.ErrCodeProtocol {
				t.Fatalf("the bridge sends %v", frame)
			}
			ended[1], reset = true, true
		}
	}
	return reset
}

// Frames that are on the wrong stream or have a wrong length end the connection (RFC 9113 sections 6.3, 6.5, 6.7, 6.8).
func TestWrongFramesEndTheConnection(t *testing.T) {
	t.Parallel()
	server := startServer(t, t.TempDir())
	addr, _ := startBridge(t, "-addr="+server.Addr)
	for _, c := range []struct {
		kind   http2.FrameType
		stream uint32
		length int
		want   http2.ErrCode
	}{
		{http2.FramePriority, 0, 5, http2.ErrCodeProtocol},
		{http2.FramePriority, 1, 4, http2.ErrCodeFrameSize},
		{http2.FrameSettings, 1, 0, http2.ErrCodeProtocol},
		{http2.FrameSettings, 0, 5, http2.ErrCodeFrameSize},
		{http2.FramePing, 1, 8, http2.ErrCodeProtocol},
		{http2.FramePing, 0, 7, http2.ErrCodeFrameSize},
		{http2.FrameGoAway, 1, 8, http2.ErrCodeProtocol},
		{http2.FrameGoAway, 0, 7, http2.ErrCodeFrameSize},
	} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(hangs)) // it fails only after Close
		_, err = conn.Write(framed(func(f *http2.Framer) {
			_ = f.WriteRawFrame(c.kind, 0, c.stream, make([]byte, c.length))
		}))
		framer := http2.NewFramer(nil, conn)
		var frame http2.Frame
		for err == nil {
			if frame, err = framer.ReadFrame(); err == nil && frame.Header().Type == http2.FrameGoAway {
				break
			}
		}
		if end, ok := frame.(*http2.GoAwayFrame); !ok || end.ErrCode != c.want {
			t.Errorf("after %v of %d bytes on stream %d: %v (error: %v), want GOAWAY with %v", c.kind, c.length,
				c.stream, frame, err, c.want)
		}
		_ = conn.Close()
	}
}
