package lean_test

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/http2"
)

// After a server has sent its SETTINGS, everything that it does wrong is a failed RPC: exit code 3.
func TestServersThatStopBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	closes := func(p *peer) { _ = p.Conn.Close() }
	const waited = "waited 300ms for an answer"
	meet(t, []encounter{
		{name: "after SETTINGS", exit: 3, says: "UNAVAILABLE", answers: func(p *peer, _ uint32) { closes(p) }},
		{
			name: "after HEADERS", exit: 3, says: "UNAVAILABLE",
			answers: func(p *peer, id uint32) { p.begin(id); closes(p) },
		},
		{name: "within HEADERS", exit: 3, says: "UNAVAILABLE", answers: func(p *peer, id uint32) {
			p.raw(frameBytes(40, http2.FrameHeaders, endHeaders, id, "\x88"))
			closes(p)
		}},
		{name: "within a message", exit: 3, says: "UNAVAILABLE", answers: func(p *peer, id uint32) {
			p.begin(id)
			p.data(id, serving[:6])
			closes(p)
		}},
		{name: "before the trailers", exit: 3, says: "UNAVAILABLE", answers: func(p *peer, id uint32) {
			p.begin(id)
			p.data(id, serving)
			closes(p)
		}},
		{
			name: "its half only", exit: 3, says: "UNAVAILABLE",
			answers: func(p *peer, _ uint32) { _ = p.Conn.(*net.TCPConn).CloseWrite() },
		},
		{name: "with a reset", exit: 3, says: "UNAVAILABLE", answers: func(p *peer, _ uint32) {
			_ = p.Conn.(*net.TCPConn).SetLinger(0)
			closes(p)
		}},
		{name: "by silence", exit: 3, waits: true, says: waited, answers: func(*peer, uint32) {}},
		{
			name: "by silence after HEADERS", exit: 3, waits: true, says: waited,
			answers: func(p *peer, id uint32) { p.begin(id) },
		},
		{name: "by silence within a message", exit: 3, waits: true, says: waited, answers: func(p *peer, id uint32) {
			p.begin(id)
			p.data(id, serving[:6])
		}},
		{name: "slow by the byte", exit: 3, waits: true, says: waited, answers: func(p *peer, id uint32) {
			p.begin(id)
			p.drip(frameBytes(6000, http2.FrameData, 0, id, strings.Repeat("\x00", 6000)))
		}},
		{
			name: "by withholding the window", exit: 3, waits: true, says: "raise -rpc-timeout",
			args:   []string{"-service=" + strings.Repeat("a", 70_000)},
			greets: func(p *peer) { _ = p.WriteSettings() },
		},
	})
}

// The kernel buffers only a part of what is sent to a server that does not read, so the write has to end at the
// deadline.
func TestServerThatReadsNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "server.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var serving sync.WaitGroup
	t.Cleanup(func() { close(done); _ = listener.Close(); serving.Wait() })
	serving.Go(func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		p := newPeer(conn)
		_ = p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<31 - 1})
		_ = p.WriteWindowUpdate(0, 1<<30)
		<-done
	})
	args := []string{"-addr=unix:" + path, "-connect-timeout=30s", "-rpc-timeout=300ms"}
	for i := range 6 {
		args = append(args, fmt.Sprintf("-service=%d%s", i, strings.Repeat("a", 60_000)))
	}
	run(t, args...).expect(t, 3, "error: ")
}

// Valid frames that a server sends endlessly are counted, or are ended by the deadline.
func TestServersThatFlood(t *testing.T) {
	t.Parallel()
	flood := func(kind http2.FrameType, flags http2.Flags, stream uint32, payload string) func(*peer, uint32) {
		return func(p *peer, _ uint32) {
			p.flood(strings.Repeat(frameBytes(len(payload), kind, flags, stream, payload), 500))
		}
	}
	begun := func(speak func(*peer, uint32)) func(*peer, uint32) {
		return func(p *peer, id uint32) { p.begin(id); speak(p, id) }
	}
	const idle, waited = "frames that carry no answer", "waited 300ms for an answer"
	meet(t, []encounter{
		{name: "SETTINGS", exit: 3, says: idle, answers: flood(http2.FrameSettings, 0, 0, "\x00\x04\x00\x00\xff\xff")},
		{
			name: "acknowledgements", exit: 3, says: idle,
			answers: flood(http2.FrameSettings, http2.FlagSettingsAck, 0, ""),
		},
		{name: "PING", exit: 3, says: idle, answers: flood(http2.FramePing, 0, 0, "12345678")},
		{
			name: "PING acknowledgements", exit: 3, says: idle,
			answers: flood(http2.FramePing, http2.FlagPingAck, 0, "12345678"),
		},
		{name: "WINDOW_UPDATE", exit: 3, says: idle, answers: flood(http2.FrameWindowUpdate, 0, 0, "\x00\x00\x00\x01")},
		{
			name: "GOAWAY", exit: 3, says: idle,
			answers: flood(http2.FrameGoAway, 0, 0, "\x00\x00\x00\x01\x00\x00\x00\x00"+strings.Repeat("x", 500)),
		},
		{name: "PRIORITY", exit: 3, says: idle, answers: flood(http2.FramePriority, 0, 1, "\x00\x00\x00\x00\x10")},
		{name: "unknown frames", exit: 3, says: idle, answers: flood(0xbe, 0xff, 1, strings.Repeat("x", 100))},
		{name: "empty DATA", exit: 3, says: idle, answers: begun(flood(http2.FrameData, 0, 1, ""))},
		{
			name: "DATA of padding", exit: 3, says: idle,
			answers: begun(flood(http2.FrameData, padded, 1, "\x03\x00\x00\x00")),
		},
		{
			name: "empty messages", exit: 3, says: "server sent more than one answer",
			answers: begun(flood(http2.FrameData, 0, 1, "\x00\x00\x00\x00\x00")),
		},
		{
			name: "informational headers", exit: 3, waits: true, says: "checking",
			answers: flood(http2.FrameHeaders, endHeaders, 1, "\x08\x03103"),
		},
		{name: "empty CONTINUATION", exit: 3, says: idle, answers: func(p *peer, id uint32) {
			p.frame(http2.FrameHeaders, 0, id, "")
			p.flood(strings.Repeat(frameBytes(0, http2.FrameContinuation, 0, id, ""), 500))
		}},
		{name: "full CONTINUATION", exit: 3, says: "headers", answers: func(p *peer, id uint32) {
			p.frame(http2.FrameHeaders, 0, id, "")
			p.flood(frameBytes(16384, http2.FrameContinuation, 0, id, strings.Repeat("\x88", 16384)))
		}},
		{
			name: "garbage", exit: 3, says: "over the limit",
			answers: func(p *peer, _ uint32) { p.flood(strings.Repeat("\x01\x07\xa9", 5000)) },
		},
	})
}

// The codes are those that gRPC gives the error codes of RST_STREAM (gRPC over HTTP/2, "Errors").
func TestServersThatResetTheStream(t *testing.T) {
	t.Parallel()
	var encounters []encounter
	for code, want := range []string{
		"INTERNAL", "INTERNAL", "INTERNAL", "INTERNAL", "INTERNAL", "INTERNAL", "INTERNAL",
		"UNAVAILABLE", "CANCELLED", "INTERNAL", "INTERNAL", "RESOURCE_EXHAUSTED", "PERMISSION_DENIED",
		"INTERNAL", "INTERNAL",
	} {
		reset := func(p *peer, id uint32) {
			_ = p.WriteRSTStream(id, http2.ErrCode(code))
			if http2.ErrCode(code) == http2.ErrCodeRefusedStream { // It may be sent once more.
				_ = p.WriteRSTStream(p.request(), http2.ErrCode(code))
			}
		}
		encounters = append(encounters,
			encounter{name: fmt.Sprintf("code %d", code), exit: 3, says: want, answers: reset},
			encounter{
				name: fmt.Sprintf("code %d after HEADERS", code), exit: 3, says: want,
				answers: func(p *peer, id uint32) {
					p.begin(id)
					reset(p, id)
				},
			})
	}
	meet(t, encounters)
}
