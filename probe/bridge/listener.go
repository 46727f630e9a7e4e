package bridge

import (
	"net"
	"net/netip"
	"slices"
	"sync"
)

// maxConns is how many connections may be open at once.
const maxConns = 64

// listener accepts every connection, and makes place for it where there are too many: of the caller that has the most,
// the oldest is closed. So a caller who takes all places, with connections that do nothing or that are always busy,
// takes them from himself, and the kubelet, with a connection for each probe, always gets in.
type listener struct {
	net.Listener
	mu   sync.Mutex
	open []*conn // the oldest first
}

func newListener(plain net.Listener) *listener { return &listener{Listener: plain} }

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	plain, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: plain, from: callerOf(plain.RemoteAddr().String()), listener: l}
	for _, victim := range l.add(c) {
		_ = victim.Close() // its caller has more of them
	}
	return c, nil
}

// add notes a connection, and returns those that have to be closed for it.
func (l *listener) add(c *conn) (victims []*conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.open) >= maxConns {
		victim := l.victim()
		victims = append(victims, l.open[victim])
		l.open = slices.Delete(l.open, victim, victim+1)
	}
	l.open = append(l.open, c)
	return victims
}

// victim returns the index of the oldest connection of the caller that has the most of them.
func (l *listener) victim() int {
	count := map[netip.Addr]int{}
	most := 0
	for _, c := range l.open {
		count[c.from]++
		most = max(most, count[c.from])
	}
	return slices.IndexFunc(l.open, func(c *conn) bool { return count[c.from] == most })
}

func (l *listener) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = slices.DeleteFunc(l.open, func(other *conn) bool { return other == c })
}

// conn is a connection that its listener counts.
type conn struct {
	net.Conn
	from     netip.Addr
	listener *listener
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.listener.remove(c)
	return c.Conn.Close()
}

// callerOf returns the IP address in host:port. Callers without one count as the same.
func callerOf(address string) netip.Addr {
	parsed, err := netip.ParseAddrPort(address)
	if err != nil {
		return netip.Addr{}
	}
	return parsed.Addr().Unmap()
}
