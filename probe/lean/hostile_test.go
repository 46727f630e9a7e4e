package lean_test

import (
	"cmp"
	"net"
	"slices"
	"testing"

	"golang.org/x/net/http2"
)

// encounter is a server, and how the programs have to end with it.
type encounter struct {
	name string
	// exit is the exit code, and says a part of the output: "status: SERVING" if it is empty.
	exit int
	says string
	// waits tells that only a deadline ends it. All others end by themselves.
	waits bool
	// args are flags beside the address and the timeouts.
	args []string
	// greets speaks from the start of the connection, or answers once the server's SETTINGS are sent and the request of
	// a stream has come.
	greets  func(p *peer)
	answers func(p *peer, stream uint32)
}

func (e encounter) speak(conn net.Conn) {
	p := newPeer(conn)
	if e.greets != nil {
		e.greets(p)
		return
	}
	_ = p.WriteSettings()
	p.preface()
	e.answers(p, p.request())
}

// timeouts returns flags for the deadlines. They are short only if the program waits for them: a busy machine must
// not make a deadline end a run that something else is meant to end.
func (e encounter) timeouts() []string {
	connect, rpc := "-connect-timeout=30s", "-rpc-timeout=30s"
	if e.waits && e.exit == 2 {
		connect = "-connect-timeout=2s" // enough for what comes before the wait, on a busy machine too
	} else if e.waits {
		rpc = "-rpc-timeout=300ms"
	}
	return []string{connect, rpc}
}

func meet(t *testing.T, encounters []encounter) {
	for _, e := range encounters {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			e.meet(t, func() func(net.Conn) { return e.speak })
		})
	}
}

// meet has the probe ask a server, and a bridge one that is like it.
func (e encounter) meet(t *testing.T, server func() func(net.Conn)) {
	t.Helper()
	for _, program := range []func(*testing.T, ...string) exitState{run, ask} {
		args := slices.Concat([]string{"-addr=" + listen(t, server())}, e.timeouts(), e.args)
		program(t, args...).expect(t, e.exit, cmp.Or(e.says, "status: SERVING"))
		if slices.Contains(args, "-watch") {
			return // a bridge does not have it
		}
	}
}

// settings is an empty SETTINGS frame.
var settings = frameBytes(0, http2.FrameSettings, 0, 0, "")
