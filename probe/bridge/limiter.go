package bridge

import (
	"cmp"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"time"
)

// limiter accepts connections as long as slots are free, and otherwise evicts a connection of the caller with the most
// connections: the oldest idle one, or the oldest. So a caller who takes all slots, with idle or busy connections,
// loses his own. Some slots are reserved for trusted callers: the node, the pod itself and returning callers. A caller
// that -allow does not list is rejected before anything is read.
type limiter struct {
	listener net.Listener
	shared   *shared
	allow    allowList

	slots, reserved int

	mu        sync.Mutex
	slotFreed *sync.Cond // of mu
	open      []*conn    // the oldest first
	untrusted int        // open connections of untrusted callers
	closing   int        // evicted connections, not in open, with their slots
	callers   map[netip.Addr]*caller
	returning returningCallers
	closed    bool
}

// caller is an address with open connections.
type caller struct {
	addr    netip.Addr
	trusted bool
	open    int
}

const (
	// reservedShare: one slot in so many is reserved for trusted callers.
	reservedShare = 8
	// closingShare: one slot in so many may belong to an evicted connection.
	closingShare = 8
	// acceptBurst is how many connections are accepted before the open ones run: a short connection frees a slot in
	// time.
	acceptBurst = 8
	// idleGrace is how long a new connection without a request is not idle yet.
	idleGrace = 200 * time.Millisecond
)

func newLimiter(listener net.Listener, shared *shared, allow allowList, slots int) *limiter {
	l := &limiter{
		listener: listener, shared: shared, allow: allow, slots: slots, reserved: slots / reservedShare,
		callers: map[netip.Addr]*caller{}, returning: returningCallers{},
	}
	l.slotFreed = sync.NewCond(&l.mu)
	return l
}

// serve accepts connections until the listener is closed.
func (l *limiter) serve() error {
	for i := 1; ; i++ {
		if i%acceptBurst == 0 {
			runtime.Gosched()
		}
		tcp, err := l.listener.Accept()
		if err != nil {
			if !l.retryAccept(err) {
				return err
			}
			continue
		}
		from, to := addrOf(tcp.RemoteAddr()), addrOf(tcp.LocalAddr())
		if !l.allow.allows(from, to) {
			l.shared.noteRejected(from)
			abort(tcp)
			continue
		}
		if c := l.admit(tcp, from, l.allow.isTrusted(from, to)); c != nil {
			go l.run(c)
		}
	}
}

// retryAccept reports whether to accept again after an error. If the process has too many open files, it evicts a
// connection first.
func (l *limiter) retryAccept(err error) bool {
	//nolint:staticcheck // SA1019: nothing else tells EMFILE, and errors of one connection, from those of the listener
	if failed, ok := errors.AsType[net.Error](err); !ok || !failed.Temporary() {
		return false
	}
	l.mu.Lock()
	l.evict(l.victim(false))
	l.mu.Unlock()
	time.Sleep(time.Millisecond)
	return true
}

// admit gives a connection a slot. It returns nil once the limiter is closed.
func (l *limiter) admit(tcp net.Conn, from netip.Addr, trusted bool) *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	trusted = trusted || l.returning.has(from)
	if who := l.callers[from]; who != nil {
		trusted = who.trusted // until the caller's last connection has ended
	}
	for {
		if !trusted && l.untrusted >= l.slots-l.slots/closingShare-l.reserved {
			l.evict(l.victim(true))
		} else if len(l.open) >= l.slots-l.slots/closingShare {
			l.evict(l.victim(false))
		}
		if l.closed {
			abort(tcp)
			return nil
		}
		if len(l.open)+l.closing < l.slots {
			break
		}
		l.slotFreed.Wait()
	}
	who := l.callers[from]
	if who == nil {
		who = &caller{addr: from, trusted: trusted}
		l.callers[from] = who
	}
	who.open++
	if !who.trusted {
		l.untrusted++
	}
	c, ok := connPool.Get().(*conn)
	if !ok {
		c = new(conn)
	}
	c.reset(l.shared, tcp, from)
	c.caller = who
	l.open = append(l.open, c)
	return c
}

// victim returns the connection to evict: of the caller who has the most, the oldest idle one, or else the oldest. l is
// locked.
func (l *limiter) victim(untrustedOnly bool) *conn {
	var idle, oldest *conn
	most := 0
	for _, c := range l.open {
		if !untrustedOnly || !c.caller.trusted {
			most = max(most, c.caller.open)
		}
	}
	settled := time.Now().Add(-idleGrace)
	for _, c := range l.open {
		if c.caller.open != most || untrustedOnly && c.caller.trusted {
			continue
		}
		if oldest == nil {
			oldest = c
		}
		if idle == nil && c.pending.Load() == 0 && c.accepted.Before(settled) {
			idle = c
		}
	}
	return cmp.Or(idle, oldest)
}

// evict closes a connection. The slot is free when the goroutine has ended. l is locked.
func (l *limiter) evict(c *conn) {
	if c == nil {
		return
	}
	l.remove(c)
	l.shared.metrics.evicted.Add(1)
	l.closing++
	c.evicted = true
	abort(c.tcp)
}

// remove takes a connection out of open. l is locked.
func (l *limiter) remove(c *conn) {
	l.open = slices.DeleteFunc(l.open, func(other *conn) bool { return other == c })
	if !c.caller.trusted {
		l.untrusted--
	}
	if c.caller.open--; c.caller.open == 0 {
		delete(l.callers, c.caller.addr)
	}
}

// connPool has the memory of ended connections.
var connPool sync.Pool

// run serves a connection, and frees its slot.
func (l *limiter) run(c *conn) {
	c.serve()
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.lastAnswer.After(c.accepted) {
		l.returning.note(c.from, time.Now())
	}
	if c.evicted {
		l.closing--
	} else {
		l.remove(c)
	}
	c.tcp, c.caller, c.evicted = nil, nil, false
	connPool.Put(c)
	l.slotFreed.Broadcast()
}

// close accepts no more, and waits until all connections have sent their last answer, or are evicted at the deadline.
func (l *limiter) close(deadline time.Time) {
	_ = l.listener.Close() // nothing is lost
	timer := time.AfterFunc(time.Until(deadline), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for len(l.open) > 0 {
			l.evict(l.open[0])
		}
	})
	defer timer.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, c := range l.open {
		c.wake()
	}
	for len(l.open)+l.closing > 0 {
		l.slotFreed.Wait()
	}
}

// abort closes a connection with a reset, and discards the kernel's buffers.
func abort(tcp net.Conn) {
	if tcp, ok := tcp.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // it fails once the connection is closed
	}
	_ = tcp.Close() // the caller may have done so
}

// addrOf returns the IP address of a TCP address, and the zero address for others.
func addrOf(address net.Addr) netip.Addr {
	if tcp, ok := address.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}
