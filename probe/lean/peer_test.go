package lean_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http/httptest"
	"runtime"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// serving is a complete healthy answer: the prefix of the message, and field 1 with the value 1.
const serving = "\x00\x00\x00\x00\x02\x08\x01"

// Flags that hold for both kinds of frame they go on.
const (
	endStream  = http2.FlagDataEndStream
	endHeaders = http2.FlagHeadersEndHeaders
	padded     = http2.FlagDataPadded
)

// listen starts a server that speaks on each connection, and then reads until the client closes it. It returns its
// address.
func listen(t *testing.T, speak func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				speak(conn)
				_, _ = io.Copy(io.Discard, conn)
			}()
		}
	}()
	return listener.Addr().String()
}

// serverTLS returns the server's side of TLS, with a certificate of an unknown CA.
func serverTLS() *tls.Config {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	config := server.TLS.Clone()
	config.NextProtos = []string{"h2"}
	return config
}

// peer is the server's end of an HTTP/2 connection. It sends what it is told to, valid or not.
type peer struct {
	net.Conn
	*http2.Framer
	block *bytes.Buffer
	hpack *hpack.Encoder
}

func newPeer(conn net.Conn) *peer {
	p := &peer{Conn: conn, Framer: http2.NewFramer(conn, conn), block: &bytes.Buffer{}}
	p.AllowIllegalWrites = true
	p.hpack = hpack.NewEncoder(p.block)
	return p
}

// preface reads the client's connection preface.
func (p *peer) preface() {
	if _, err := io.ReadFull(p.Conn, make([]byte, len(http2.ClientPreface))); err != nil {
		runtime.Goexit()
	}
}

// request reads to the end of the next request, and returns its stream. Where the client has gone, it ends the
// goroutine.
func (p *peer) request() uint32 {
	for {
		f, err := p.ReadFrame()
		if err != nil {
			runtime.Goexit()
		}
		if data, ok := f.(*http2.DataFrame); ok && data.StreamEnded() {
			return data.StreamID
		}
	}
}

// frame sends a frame of any kind.
func (p *peer) frame(kind http2.FrameType, flags http2.Flags, stream uint32, payload string) {
	_ = p.WriteRawFrame(kind, flags, stream, []byte(payload))
}

// raw sends bytes.
func (p *peer) raw(bytes string) { _, _ = io.WriteString(p.Conn, bytes) }

// flood sends the same bytes until the client goes.
func (p *peer) flood(bytes string) {
	go func() { _, _ = io.Copy(io.Discard, p.Conn) }()
	for {
		if _, err := io.WriteString(p.Conn, bytes); err != nil {
			return
		}
	}
}

// fields encodes pairs of name and value to a header block.
func (p *peer) fields(pairs ...string) string {
	p.block.Reset()
	for i := 0; i < len(pairs); i += 2 {
		_ = p.hpack.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]}) // A bytes.Buffer takes everything.
	}
	return p.block.String()
}

func (p *peer) headers(stream uint32, flags http2.Flags, pairs ...string) {
	p.frame(http2.FrameHeaders, flags|endHeaders, stream, p.fields(pairs...))
}

// begin sends the headers of an answer, with further ones.
func (p *peer) begin(stream uint32, more ...string) {
	p.headers(stream, 0, append([]string{":status", "200", "content-type", "application/grpc"}, more...)...)
}

func (p *peer) data(stream uint32, bytes string) { p.frame(http2.FrameData, 0, stream, bytes) }

// end sends the trailers of an answer.
func (p *peer) end(stream uint32, pairs ...string) { p.headers(stream, endStream, pairs...) }

// answer sends a healthy answer.
func (p *peer) answer(stream uint32) {
	p.begin(stream)
	p.data(stream, serving)
	p.end(stream, "grpc-status", "0")
}

// frameBytes returns the bytes of a frame. The length in its header may be wrong.
func frameBytes(claim int, kind http2.FrameType, flags http2.Flags, stream uint32, payload string) string {
	return string([]byte{
		byte(claim >> 16), byte(claim >> 8), byte(claim), byte(kind), byte(flags),
		byte(stream >> 24), byte(stream >> 16), byte(stream >> 8), byte(stream),
	}) + payload
}
