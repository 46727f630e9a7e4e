package bridge

import (
	"errors"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"time"
)

// door lets callers in as long as there are places. If there are none, it makes one: of the caller that has the most
// connections, one that asks nothing, or the oldest. So a caller who takes all places, with connections that do nothing
// or that are always busy, takes them from himself. Some places are kept for the node, the pod itself and regulars, and
// callers that -allow does not name are turned away before anything is read.
type door struct {
	listener net.Listener
	server   *server
	guests   guests

	places, kept int // how many there are, and how many of them are for the node and the pod alone

	mu      sync.Mutex
	left    *sync.Cond // of mu: a connection has ended
	open    []*conn    // the oldest first
	strange int        // connections that have no right to the kept places
	ending  int        // connections that were told to end, and have not; they are not in open
	callers map[netip.Addr]*caller
	regular regulars
	closed  bool
}

// caller is who calls, by address.
type caller struct {
	addr  netip.Addr
	known bool // the node, the pod or a regular
	conns int  // those that are open
}

const (
	// keptShare is the part of the places that is kept for the node and the pod: one in so many.
	keptShare = 8
	// endingShare is the part of the places that connections may have which were told to end: one in so many.
	endingShare = 8
	// atOnce is how many callers are let in before those who are in have their turn: a caller who comes and goes leaves
	// his place before it is missing.
	atOnce = 8
	// settling is how long a connection may take until it asks, before it counts as one that asks nothing.
	settling = 200 * time.Millisecond
)

func newDoor(listener net.Listener, s *server, g guests, places int) *door {
	d := &door{
		listener: listener, server: s, guests: g, places: places, kept: places / keptShare,
		callers: map[netip.Addr]*caller{}, regular: regulars{},
	}
	d.left = sync.NewCond(&d.mu)
	return d
}

// serve lets callers in until the listener is closed.
func (d *door) serve() error {
	for i := 1; ; i++ {
		if i%atOnce == 0 {
			runtime.Gosched()
		}
		tcp, err := d.listener.Accept()
		if err != nil {
			if !d.passes(err) {
				return err
			}
			continue
		}
		from, to := addrOf(tcp.RemoteAddr()), addrOf(tcp.LocalAddr())
		if !d.guests.mayAsk(from, to) {
			d.server.turnedAway(from)
			hangUp(tcp)
			continue
		}
		if c := d.enter(tcp, from, d.guests.isKnown(from, to)); c != nil {
			go d.run(c)
		}
	}
}

// passes reports whether an error in accepting may pass, after it has done something about it: if there is no file for
// one more connection, another one ends.
func (d *door) passes(err error) bool {
	//nolint:staticcheck // SA1019: nothing else tells EMFILE, and errors of one connection, from those of the listener
	if failed, ok := errors.AsType[net.Error](err); !ok || !failed.Temporary() {
		return false
	}
	d.mu.Lock()
	d.end(d.victim(false))
	d.mu.Unlock()
	time.Sleep(time.Millisecond)
	return true
}

// enter gives a connection its place. It returns nil once the door is closed.
func (d *door) enter(tcp net.Conn, from netip.Addr, known bool) *conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	known = known || d.regular.has(from)
	if who := d.callers[from]; who != nil {
		known = who.known // what it counts as until its last connection has ended
	}
	for {
		if !known && d.strange >= d.places-d.places/endingShare-d.kept {
			d.end(d.victim(true))
		} else if len(d.open) >= d.places-d.places/endingShare {
			d.end(d.victim(false))
		}
		if d.closed {
			hangUp(tcp)
			return nil
		}
		if len(d.open)+d.ending < d.places {
			break
		}
		d.left.Wait()
	}
	who := d.callers[from]
	if who == nil {
		who = &caller{addr: from, known: known}
		d.callers[from] = who
	}
	who.conns++
	if !who.known {
		d.strange++
	}
	c, ok := conns.Get().(*conn)
	if !ok {
		c = new(conn)
	}
	c.reset(d.server, tcp, from)
	c.caller = who
	d.open = append(d.open, c)
	return c
}

// victim returns the connection that is to end if one more comes: of the caller who has the most of them, the oldest
// that asks nothing, or else the oldest. d is locked.
func (d *door) victim(strange bool) *conn {
	var idle, oldest *conn
	most := 0
	for _, c := range d.open {
		if !strange || !c.caller.known {
			most = max(most, c.caller.conns)
		}
	}
	settled := time.Now().Add(-settling)
	for _, c := range d.open {
		if c.caller.conns != most || strange && c.caller.known {
			continue
		}
		if oldest == nil {
			oldest = c
		}
		if idle == nil && c.asking.Load() == 0 && c.accepted.Before(settled) {
			idle = c
		}
	}
	if idle != nil {
		return idle
	}
	return oldest
}

// end tells a connection to end. d is locked.
func (d *door) end(c *conn) {
	if c == nil {
		return
	}
	d.remove(c)
	d.server.metrics.evicted.Add(1)
	d.ending++
	c.told = true
	hangUp(c.tcp)
}

// remove takes a connection off the list. d is locked.
func (d *door) remove(c *conn) {
	for i, other := range d.open {
		if other == c {
			d.open = append(d.open[:i], d.open[i+1:]...)
			break
		}
	}
	if !c.caller.known {
		d.strange--
	}
	if c.caller.conns--; c.caller.conns == 0 {
		delete(d.callers, c.caller.addr)
	}
}

// conns keeps the memory of connections that have ended for others.
var conns sync.Pool

// run serves a connection, and frees its place.
func (d *door) run(c *conn) {
	c.serve()
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.asked.After(c.accepted) {
		d.regular.note(c.from, time.Now())
	}
	if c.told {
		d.ending--
	} else {
		d.remove(c)
	}
	c.tcp, c.caller, c.told = nil, nil, false
	conns.Put(c)
	d.left.Broadcast()
}

// close lets nobody in any more, and has all connections end with their last answer, or at the deadline.
func (d *door) close(deadline time.Time) {
	_ = d.listener.Close() // nothing is lost
	timer := time.AfterFunc(time.Until(deadline), func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		for len(d.open) > 0 {
			d.end(d.open[0])
		}
	})
	defer timer.Stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, c := range d.open {
		c.wake()
	}
	for len(d.open)+d.ending > 0 {
		d.left.Wait()
	}
}

// hangUp closes a connection at once, with what is in the kernel's buffers.
func hangUp(tcp net.Conn) {
	if tcp, ok := tcp.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // it fails once the connection is closed
	}
	_ = tcp.Close() // the caller may have done so
}

// addrOf returns the IP address of a TCP address. Callers without one count as the same.
func addrOf(address net.Addr) netip.Addr {
	if tcp, ok := address.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}
