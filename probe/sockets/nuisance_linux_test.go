package sockets

import (
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/http2"
)

// serve listens on loopback until the end of the test, and hands over each connection. It returns the socket, and how
// many connections there were.
func serve(t *testing.T, handle func(conn net.Conn)) (Socket, *atomic.Int32) {
	t.Helper()
	server, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	var connections atomic.Int32
	go func() {
		for {
			conn, err := server.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			go func() {
				defer conn.Close()
				handle(conn)
			}()
		}
	}()
	l := listener{at: netip.MustParseAddrPort(server.Addr().String())}
	return l.socket(ByCgroup), &connections
}

func settings(t *testing.T, conn net.Conn) {
	t.Helper()
	if _, err := conn.Write(http2.AppendFrame(nil, http2.FrameSettings, 0, 0, nil)); err != nil {
		t.Error(err)
	}
}

func TestSocketThatHasAnsweredIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	web, connections := serve(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 1)) // the probe may have gone
		_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
	})
	found := []Socket{web}
	for _, reach := range []Reach{Likely, Everyone} {
		var err error
		if found, err = Ask(found, reach, time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	if found[0].Speaks != outcome.HTTP1 {
		t.Errorf("it speaks %q, want %q", found[0].Speaks, outcome.HTTP1)
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

// A probe is not to take as long as it may because a neighbor of its server says nothing.
func TestSilentSocketIsNotWaitedForIfAServerIsKnown(t *testing.T) {
	t.Parallel()
	untilClosed := func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }
	first, _ := serve(t, func(conn net.Conn) {
		settings(t, conn)
		untilClosed(conn)
	})
	silent, _ := serve(t, untilClosed)
	const longerThanTests = 24 * time.Hour
	found, err := Ask([]Socket{first, silent}, Likely, time.Now().Add(longerThanTests))
	if err != nil {
		t.Fatal(err)
	}
	if found[0].Speaks != outcome.HTTP2 || found[1].Speaks != outcome.Silent {
		t.Errorf("they speak %q and %q, want %q and %q", found[0].Speaks, found[1].Speaks, outcome.HTTP2,
			outcome.Silent)
	}
}

func TestWhatHasComeBeforeTheDeadlineCounts(t *testing.T) {
	t.Parallel()
	written := make(chan bool)
	server, _ := serve(t, func(conn net.Conn) {
		settings(t, conn)
		close(written)
		_, _ = conn.Read(make([]byte, 1))
	})
	poll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(poll)
	r := &round{poll: poll, talks: map[int32]*talk{}}
	defer r.end()
	r.begin(&server)
	<-written
	r.wait(time.Now().Add(-time.Minute), false)
	if server.Speaks != outcome.HTTP2 {
		t.Errorf("it speaks %q, want %q", server.Speaks, outcome.HTTP2)
	}
}
