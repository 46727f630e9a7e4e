package sockets

import (
	"bufio"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2/hpack"
	"golang.org/x/sys/unix"

	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/http2"
)

// deadlineThatIsNotReached is far away: what a test does until then, it does without waiting for it.
func deadlineThatIsNotReached(t *testing.T) time.Time {
	t.Helper()
	return time.Now().Add(24 * time.Hour)
}

func untilClosed(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

func says(text string) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = io.WriteString(conn, text)
		untilClosed(conn)
	}
}

// answers says something when something has come.
func answers(text string) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 1))
		says(text)(conn)
	}
}

// inPieces says something in pieces, each in a segment of its own.
func inPieces(pieces ...string) func(net.Conn) {
	return func(conn net.Conn) {
		_ = conn.(*net.TCPConn).SetNoDelay(true)
		for _, piece := range pieces {
			_, _ = io.WriteString(conn, piece)
		}
		untilClosed(conn)
	}
}

func forEver(text string) func(net.Conn) {
	return func(conn net.Conn) {
		for {
			if _, err := io.WriteString(conn, text); err != nil {
				return
			}
		}
	}
}

func reset(conn net.Conn) {
	_ = conn.(*net.TCPConn).SetLinger(0)
	_, _ = conn.Read(make([]byte, 1))
}

// byHeader is a multiplexer that says nothing before it knows who is asked: it waits for the headers of the first
// request, as github.com/soheilhy/cmux does.
func byHeader(t *testing.T) func(net.Conn) {
	t.Helper()
	return func(conn net.Conn) {
		in := bufio.NewReader(conn)
		preface := make([]byte, len(http2.Preface))
		if _, err := io.ReadFull(in, preface); err != nil || string(preface) != http2.Preface {
			return
		}
		for {
			head := make([]byte, http2.FrameHeaderLen)
			if _, err := io.ReadFull(in, head); err != nil {
				return
			}
			frame := http2.ParseFrameHeader(head)
			body := make([]byte, frame.Length)
			if _, err := io.ReadFull(in, body); err != nil {
				return
			}
			if frame.Type != http2.FrameHeaders {
				continue
			}
			fields, err := hpack.NewDecoder(4096, nil).DecodeFull(body)
			if err != nil {
				t.Error(err)
			}
			for _, field := range fields {
				if field.Name == "content-type" && field.Value == "application/grpc" {
					settings(t, conn)
				}
			}
			untilClosed(conn)
			return
		}
	}
}

// secureServer is one of package http with TLS, which tells HTTP/1.1 from others in plain text.
func secureServer(t *testing.T) Socket {
	t.Helper()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return socketAt(t, server.Listener)
}

func socketAt(t *testing.T, l net.Listener) Socket {
	t.Helper()
	at, err := address.Parse(l.Addr().String(), address.AnyPort)
	if err != nil {
		t.Fatal(err)
	}
	return Socket{Addr: l.Addr().String(), Address: at, Owner: ByCgroup, Speaks: outcome.NotAsked}
}

// handshake is what a server with TLS does that is not of package http.
func handshake(t *testing.T) func(net.Conn) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	t.Cleanup(server.Close)
	return func(conn net.Conn) { _ = tls.Server(conn, server.TLS).Handshake() }
}

// Each server is asked alone, and its answer ends the asking: the deadline is a day away.
func TestWhatServersAnswer(t *testing.T) {
	t.Parallel()
	frame := string(http2.AppendFrame(nil, http2.FrameSettings, 0, 0, make([]byte, 30)))
	for name, test := range map[string]struct {
		handle func(net.Conn)
		want   outcome.Protocol
	}{
		"SETTINGS":                   {says(frame), outcome.HTTP2},
		"SETTINGS after the preface": {answers(frame), outcome.HTTP2},
		"SETTINGS byte by byte":      {inPieces(bytePieces(frame)...), outcome.HTTP2},
		"SETTINGS for ever":          {forEver(frame), outcome.HTTP2},
		"other bytes for ever":       {forEver("spam"), outcome.OtherProtocol},
		"HTTP/1.1 for ever":          {forEver("HTTP/1.1 400 Bad Request\r\n"), outcome.HTTP1},
		"half a frame, then the end": {func(c net.Conn) { _, _ = io.WriteString(c, frame[:5]) }, outcome.OtherProtocol},
		"close at once":              {func(net.Conn) {}, outcome.Closed},
		"close after the request":    {func(c net.Conn) { _, _ = c.Read(make([]byte, 1)) }, outcome.Closed},
		"reset":                      {reset, outcome.Closed},
		"an alert":                   {answers("\x15\x03\x03\x00\x02\x02\x0a"), outcome.TLS},
		"a handshake":                {handshake(t), outcome.Closed},
		"an echo":                    {func(c net.Conn) { _, _ = io.Copy(c, c) }, outcome.OtherProtocol},
		"a client's preface":         {says(http2.Preface + frame), outcome.OtherProtocol},
		"SMTP":                       {says("220 mail.example ESMTP\r\n"), outcome.OtherProtocol},
		"SSH":                        {says("SSH-2.0-OpenSSH_9.2p1\r\n"), outcome.OtherProtocol},
		"MariaDB":                    {says("\x49\x00\x00\x00\x0a5.5.5-10.11.6-MariaDB\x00"), outcome.OtherProtocol},
		"HTTP/1.1":                   {answers("HTTP/1.1 404 Not Found\r\n\r\n"), outcome.HTTP1},
		"HTTPS in the next segment":  {inPieces("HTTP/1.1 400 Bad Request\r\n\r\n", "an HTTPS port"), outcome.TLS},
		"a multiplexer by headers":   {byHeader(t), outcome.HTTP2},
		"a SETTINGS frame of 16 MB":  {forEver("\xff\xff\xfc\x04\x00\x00\x00\x00\x00"), outcome.OtherProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, _ := serve(t, test.handle)
			wantSpeaks(t, server, test.want)
		})
	}
	t.Run("HTTPS of Go", func(t *testing.T) {
		t.Parallel()
		wantSpeaks(t, secureServer(t), outcome.Closed) // it knows HTTP/1.1 alone by its first bytes
	})
	t.Run("nothing there", func(t *testing.T) {
		t.Parallel()
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		wantSpeaks(t, socketAt(t, l), outcome.Refused)
	})
}

func bytePieces(text string) (pieces []string) {
	for _, b := range []byte(text) {
		pieces = append(pieces, string([]byte{b}))
	}
	return pieces
}

func wantSpeaks(t *testing.T, s Socket, want outcome.Protocol) {
	t.Helper()
	found, err := Ask([]Socket{s}, Everyone, deadlineThatIsNotReached(t))
	if err != nil || len(found) != 1 || found[0].Speaks != want {
		t.Errorf("it is %+v, %v, want %q", found, err, want)
	}
}

// What has begun to answer and stops is not silent.
func TestHalfAnAnswer(t *testing.T) {
	t.Parallel()
	half, _ := serve(t, says("half"))
	silent, _ := serve(t, untilClosed)
	begun, _ := serve(t, says("HTTP/1.1 400 Bad Request\r\n"))
	first, _ := serve(t, says(string(http2.AppendFrame(nil, http2.FrameSettings, 0, 0, nil))))
	found, err := Ask([]Socket{half, silent, begun, first}, Likely, deadlineThatIsNotReached(t))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []outcome.Protocol{outcome.OtherProtocol, outcome.Silent, outcome.HTTP1, outcome.HTTP2} {
		if found[i].Speaks != want {
			t.Errorf("socket %d speaks %q, want %q", i, found[i].Speaks, want)
		}
	}
}

// The one server among hundreds of silent sockets is found without waiting for any of them.
func TestServerAmongSilentSockets(t *testing.T) {
	t.Parallel()
	const silent = 400
	var found []Socket
	for range silent {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // it accepts nothing: the kernel does
		found = append(found, socketAt(t, l))
	}
	server, _ := serve(t, answers(string(http2.AppendFrame(nil, http2.FrameSettings, 0, 0, nil))))
	found, err := Ask(append(found, server), Likely, deadlineThatIsNotReached(t))
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range found {
		if i < silent && s.Speaks != outcome.Silent || i == silent && s.Speaks != outcome.HTTP2 {
			t.Errorf("socket %d speaks %q", i, s.Speaks)
		}
	}
}

// No more sockets are asked at once than there is room for; the next call asks the others.
func TestNumberOfSocketsAskedAtOnceIsBounded(t *testing.T) {
	t.Parallel()
	server, connections := serve(t, func(net.Conn) {})
	found := make([]Socket, maxAsked+10)
	for i := range found {
		found[i] = server
	}
	for _, want := range []int{10, 0} {
		var err error
		if found, err = Ask(found, Everyone, deadlineThatIsNotReached(t)); err != nil {
			t.Fatal(err)
		}
		notAsked := 0
		for _, s := range found {
			if s.Speaks == outcome.NotAsked {
				notAsked++
			}
		}
		if notAsked != want {
			t.Errorf("%d sockets were not asked, want %d", notAsked, want)
		}
	}
	if n := connections.Load(); n > maxAsked+10 {
		t.Errorf("%d connections for %d sockets", n, maxAsked+10)
	}
}

// A unix socket whose file is there, and which this user may not connect to, is named; nobody knows whose it is.
func TestUnixSocketThatIsClosedToTheProbe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "closed.sock")
	listenOn(t, "unix", path)
	if err := syscall.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	asUser(t, func() {
		found, err := Ask(unixSockets(), Everyone, deadlineThatIsNotReached(t))
		if err != nil || len(found) != 1 || found[0].Speaks != outcome.Forbidden || found[0].Owner != Unknown {
			t.Errorf("it is %+v, %v, want it %q", found, err, outcome.Forbidden)
		}
	})
}

// asUser calls a function in a thread whose rights to files are those of a user (setfsuid(2)).
func asUser(t *testing.T, f func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlock: nothing else is to run in this thread
		_, err := unix.SetfsuidRetUid(65534)
		if err == nil {
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
