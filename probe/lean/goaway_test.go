package lean_test

import (
	"net"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/net/http2"
)

// onConnections returns a server that speaks in one way on its first connection, in another on its second, and so on.
// It hangs up on connections after the last way.
func onConnections(ways ...func(*peer)) func(net.Conn) {
	var connections atomic.Int64
	return func(conn net.Conn) {
		n := int(connections.Add(1))
		if n > len(ways) {
			_ = conn.Close()
			return
		}
		ways[n-1](newPeer(conn))
	}
}

// asked returns a server that speaks once a request has come.
func asked(speak func(p *peer, stream uint32)) func(*peer) {
	return func(p *peer) {
		_ = p.WriteSettings()
		p.preface()
		speak(p, p.request())
	}
}

var (
	answers = asked((*peer).answer)
	// leaves processes nothing.
	leaves = asked(func(p *peer, _ uint32) { _ = p.WriteGoAway(0, 0, []byte("bye")) })
	// leavesAtOnce sends SETTINGS and GOAWAY together.
	leavesAtOnce = func(p *peer) {
		p.raw(settings + frameBytes(8, http2.FrameGoAway, 0, 0, "\x00\x00\x00\x00\x00\x00\x00\x00"))
		p.preface()
	}
	// refusesLeaving refuses a call on a connection that it may still use, as far as GOAWAY goes.
	refusesLeaving = asked(func(p *peer, id uint32) {
		_ = p.WriteGoAway(1<<31-1, 0, nil)
		_ = p.WriteRSTStream(id, http2.ErrCodeRefusedStream)
	})
	refusesTwice = asked(func(p *peer, id uint32) {
		_ = p.WriteRSTStream(id, http2.ErrCodeRefusedStream)
		_ = p.WriteRSTStream(p.request(), http2.ErrCodeRefusedStream)
	})
)

// saysBye is the message if leaves has closed both connections.
const saysBye = `UNAVAILABLE: server is closing the connection (GOAWAY, error code NO_ERROR): "bye"`

// notProcessed has a server's connections in the order in which it accepts them, and how the probe ends.
var notProcessed = []struct {
	name        string
	connections []func(*peer)
	encounter
}{
	{name: "GOAWAY", connections: []func(*peer){leaves, answers}},
	{name: "GOAWAY with SETTINGS", connections: []func(*peer){leavesAtOnce, answers}},
	{name: "GOAWAY, then refused", connections: []func(*peer){refusesLeaving, answers}},
	{name: "refused, then GOAWAY", connections: []func(*peer){asked(func(p *peer, id uint32) {
		_ = p.WriteRSTStream(id, http2.ErrCodeRefusedStream)
		_ = p.WriteGoAway(0, 0, nil)
	}), answers}},
	{name: "GOAWAY and hung up", connections: []func(*peer){
		asked(func(p *peer, _ uint32) { _ = p.WriteGoAway(0, 0, nil); _ = p.Conn.Close() }), answers,
	}},
	{
		name: "one call of two", encounter: encounter{args: []string{"-service=a", "-service=b"}},
		connections: []func(*peer){asked(func(p *peer, id uint32) {
			_ = p.WriteGoAway(id, 0, nil)
			p.answer(id)
		}), answers},
	},
	{
		name: "call that may be processed",
		connections: []func(*peer){asked(func(p *peer, id uint32) {
			_ = p.WriteGoAway(id, 2, nil)
			_ = p.Conn.Close()
		}), answers},
		encounter: encounter{exit: 3, says: "server is closing the connection (GOAWAY, error code INTERNAL_ERROR)"},
	},
	{name: "reset that says nothing of processing", connections: []func(*peer){asked(func(p *peer, id uint32) {
		_ = p.WriteGoAway(id, 0, nil)
		_ = p.WriteRSTStream(id, http2.ErrCodeInternal)
	}), answers}, encounter: encounter{exit: 3, says: "error code INTERNAL_ERROR"}},
	{
		name: "refused twice", connections: []func(*peer){refusesTwice, answers},
		encounter: encounter{exit: 3, says: "UNAVAILABLE: server reset the stream (error code REFUSED_STREAM)"},
	},
	{
		name: "GOAWAY twice", connections: []func(*peer){leaves, leaves, answers},
		encounter: encounter{exit: 3, says: saysBye},
	},
	{
		name: "hung up then", connections: []func(*peer){leaves},
		encounter: encounter{exit: 3, says: "connecting again: server closed the connection"},
	},
	{
		name: "silent then", connections: []func(*peer){leaves, func(*peer) {}},
		encounter: encounter{exit: 3, waits: true, says: "waited 300ms for an answer"},
	},
}

// A call that the server has not processed is made once more, on a second connection if the first is closing (RFC
// 9113 sections 6.8 and 8.7).
func TestCallsThatWereNotProcessed(t *testing.T) {
	t.Parallel()
	for _, c := range notProcessed {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.meet(t, func() func(net.Conn) { return onConnections(c.connections...) })
		})
	}
}

// A server that has taken down its listener takes no second connection.
func TestSecondConnectionIsRefused(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		conn, err := listener.Accept()
		syscall.ForkLock.RLock() // what another test is starting has the listener until its program runs
		_ = listener.Close()
		syscall.ForkLock.RUnlock()
		if err == nil {
			leaves(newPeer(conn))
		}
	}()
	run(t, "-addr="+listener.Addr().String(), "-connect-timeout=30s", "-rpc-timeout=30s").expect(t, 3,
		`(GOAWAY, error code NO_ERROR): "bye"; connecting again: connection refused`)
}
