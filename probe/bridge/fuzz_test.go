package bridge

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/grpc-cnb/health-probe/probe/bridge/bridgeflags"
	"github.com/grpc-cnb/health-probe/probe/bridge/linelog"
	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/probetest"
)

// fuzzHangs is hangs for what a fuzz test waits for. It is less than the ten seconds after which Go's fuzzing engine
// ends the process, which would not say why.
const fuzzHangs = 5 * time.Second

// Whatever bytes come on a connection, what the bridge sends is valid HTTP/1.1 or HTTP/2, and it answers with success
// no more requests than net/http takes for valid ones of the same bytes.
func FuzzConnection(f *testing.F) {
	for _, a := range attacks() {
		if in := a.opening; len(in) > 0 {
			f.Add(in)
		} else if a.next != nil {
			f.Add(a.next(0))
		}
	}
	f.Add(framed(func(f *http2.Framer) { callsFrom(f, 1, 3, readyName) }))
	f.Add(framed(func(f *http2.Framer) {
		begin(f, 1, headers("/nothing", "grpc-timeout", "1S"))
		begin(f, 3, headers(readyPage, "content-length", "5"))
	}))
	f.Add(framed(func(f *http2.Framer) {
		begin(f, 1, headers(checkPath, ":scheme", "http")) // after other fields
		_ = f.WriteData(1, true, message("ready"))
		callsFrom(f, 3, 1, readyName)
	}))
	f.Add(framed(func(f *http2.Framer) {
		_ = f.WriteRawFrame(http2.FramePriorityUpdate, 0, 1, []byte("u=1"))
		callsFrom(f, 3, 1, readyName)
	}))
	f.Add(framed(func(f *http2.Framer) {
		begin(f, 1, headersTo("@", checkPath))
		_ = f.WriteData(1, true, message("ready"))
	}))
	f.Add([]byte("GET /readyz HTTP/1.1\r\nHost: a\r\n\r\nHEAD http://a/livez?x HTTP/1.0\r\n\r\n"))
	f.Add(framed(func(f *http2.Framer) { begin(f, 1, headers(readyPage)) }))
	f.Add([]byte("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\nGET /livez@b HTTP/1.1\r\nHost: a\r\n\r\n"))
	f.Add([]byte("GET readyz HTTP/1.1\r\nHost: a\r\n\r\nGET /readyz HTTP/1.1\r\nHost: a\r\n\r\n"))
	f.Add([]byte("GET /readyz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chu}nked\r\n\r\n"))
	f.Add([]byte("GET http://[::1]:80/readyz HTTP/1.1\r\nHost:b a\r\n\r\n"))
	f.Add([]byte("GET /readyz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n"))
	addr := fuzzedBridge(f)
	oracle := startOracle(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		answered := successes(t, in, exchange(t, addr, in))
		if answered == 0 {
			return
		}
		enough := oracle.valid.Load() + int64(answered)
		conn, err := net.Dial("tcp", oracle.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = conn.Write(forOracle(in)) // it may be closed before
		what := fmt.Sprintf("net/http to take %d requests, which are answered", answered)
		findsWithin(t, fuzzHangs, what, func() bool { return oracle.valid.Load() >= enough })
	})
}

// fuzzedBridge runs a bridge until the fuzz test ends.
func fuzzedBridge(f *testing.F) string {
	f.Helper()
	server, err := probetest.StartWith("server", f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(server.Close)
	flags, _, err := bridgeflags.Read([]string{"-addr=" + server.Addr}, check.LookUpPort, false)
	if err != nil {
		f.Fatal(err)
	}
	listener, err := listen(context.Background(), "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- serve(ctx, newTarget(flags), listener, linelog.New(io.Discard, "")) }()
	f.Cleanup(func() { stop(); <-ended })
	return listener.Addr().String()
}

// oracle is a server of net/http that counts the requests that are valid for a bridge.
type oracle struct {
	addr  string
	valid atomic.Int64
}

func startOracle(f *testing.F) *oracle {
	f.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	o := &oracle{addr: listener.Addr().String()}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{Protocols: protocols, ReadHeaderTimeout: hangs, Handler: http.HandlerFunc(
		func(_ http.ResponseWriter, r *http.Request) {
			var asked request
			asked.setPath([]byte(r.URL.Path))
			_, isPage := asked.resource.isPage()
			isPage = isPage || asked.resource == resourceMetrics
			if asked.resource.isCall() && r.Method == http.MethodPost ||
				isPage && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
				o.valid.Add(1)
			}
		})}
	go func() { _ = server.Serve(listener) }() // until it is closed
	f.Cleanup(func() { _ = server.Close() })
	return o
}

// forOracle returns the bytes without that for which net/http alone ends the connection: what follows the headers of a
// stream that are malformed, although nothing but the stream is in error (RFC 9113, section 8.1.1), and frames of
// extensions, such as PRIORITY_UPDATE (RFC 9218), which the bridge has to ignore (RFC 9113, section 5.5).
func forOracle(in []byte) []byte {
	if !bytes.HasPrefix(in, []byte(http2.ClientPreface)) {
		return in
	}
	in = slices.Concat([]byte(http2.ClientPreface), withoutExtensions(in[len(http2.ClientPreface):]))
	rest := bytes.NewReader(in[len(http2.ClientPreface):])
	framer := http2.NewFramer(io.Discard, rest)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	out := []byte(http2.ClientPreface)
	for malformed := map[uint32]bool{}; ; {
		from := len(in) - rest.Len()
		frame, err := framer.ReadFrame()
		if bad, ok := errors.AsType[http2.StreamError](err); ok {
			malformed[bad.StreamID] = true
		} else if err != nil {
			return append(out, in[from:]...)
		} else if malformed[frame.Header().StreamID] && frame.Header().Type != http2.FrameHeaders {
			continue
		}
		out = append(out, in[from:len(in)-rest.Len()]...)
	}
}

func withoutExtensions(in []byte) (frames []byte) {
	for rest := bytes.NewReader(in); ; {
		header, err := http2.ReadFrameHeader(rest)
		if err != nil || rest.Len() < int(header.Length) {
			return append(frames, in...)
		}
		end := len(in) - rest.Len() + int(header.Length)
		if header.Type <= http2.FrameContinuation {
			frames = append(frames, in[:end]...)
		}
		in = in[end:]
		rest.Reset(in)
	}
}

// exchange sends bytes, and returns what comes until the connection is closed or nothing comes for a moment.
func exchange(t *testing.T, addr string, in []byte) []byte {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = conn.Write(in) // it may be closed before
	var out bytes.Buffer
	for b := make([]byte, 4096); ; {
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
		n, err := conn.Read(b)
		out.Write(b[:n])
		if err != nil {
			return out.Bytes()
		}
	}
}

// successes returns how many requests were answered with success, and fails if the answers are not valid.
func successes(t *testing.T, in, out []byte) (count int) {
	t.Helper()
	if bytes.HasPrefix(in, []byte(http2.ClientPreface)) {
		return successesHTTP2(t, out)
	}
	for answers := bufio.NewReader(bytes.NewReader(out)); ; {
		response, err := http.ReadResponse(answers, nil)
		if err != nil {
			return count // for an answer to HEAD there is no body, and what comes next is taken for it
		}
		if response.StatusCode == http.StatusOK {
			count++
		}
		_, err = io.Copy(io.Discard, response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil || strings.Contains(string(in), "HEAD") {
			return count
		}
	}
}

// successesHTTP2 is successes for HTTP/2.
func successesHTTP2(t *testing.T, out []byte) (count int) {
	t.Helper()
	framer := http2.NewFramer(io.Discard, bytes.NewReader(out))
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	for {
		frame, err := framer.ReadFrame()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return count // nothing more has come in time
		}
		if err != nil {
			t.Fatalf("reading %x: %v", out, err)
		}
		if h, ok := frame.(*http2.MetaHeadersFrame); ok && isSuccess(h) {
			count++
		}
	}
}

// isSuccess reports whether headers are those of a page, or end a call, that is answered with success.
func isSuccess(h *http2.MetaHeadersFrame) bool {
	for _, field := range h.Fields {
		if field.Name == "grpc-status" && field.Value == "0" ||
			field.Name == ":status" && field.Value == "200" && !isCallAnswer(h) {
			return true
		}
	}
	return false
}

// isCallAnswer reports whether headers are those of a call of gRPC.
func isCallAnswer(h *http2.MetaHeadersFrame) bool {
	for _, field := range h.Fields {
		if field.Name == "content-type" && field.Value == "application/grpc" {
			return true
		}
	}
	return false
}
