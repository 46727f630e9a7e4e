package bridge

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"github.com/grpc-cnb/health-probe/probe/http2"
)

// conn is a connection in its place. Its one goroutine reads, answers and writes; an asking that ends only leaves its
// outcome at the streams that wait for it, and wakes the goroutine. All its memory is here (see placeSize).
type conn struct {
	server *server
	tcp    net.Conn
	from   netip.Addr
	caller *caller // who calls, for the door
	told   bool    // it was told to end, by the door

	accepted time.Time
	asking   atomic.Int32 // streams that wait for an answer, for the door
	woken    atomic.Bool

	in         [readSize]byte // in[start:end] is what was read and not handled
	start, end int
	out        [writeSize]byte // out[:queued] is what is to be written
	queued     int

	left    int       // of the allowance
	counted time.Time // when it was last given back with time
	began   time.Time // when what has come in part began, zero for nothing
	asked   time.Time // when the server last answered it, or when it was accepted
	// answered tells that a page was sent; last, that it is the last one of HTTP/1.1.
	answered, last bool

	streams [maxStreams]stream
	http2   session
}

// reset prepares a conn for another connection.
func (c *conn) reset(s *server, tcp net.Conn, from netip.Addr) {
	now := time.Now()
	c.server, c.tcp, c.from = s, tcp, from
	c.accepted, c.asked, c.counted, c.began, c.left = now, now, now, now, allowance
	c.start, c.end, c.queued, c.answered, c.last = 0, 0, 0, false, false
	c.woken.Store(false)
	for i := range c.streams {
		c.streams[i].reset(c)
	}
	c.http2.reset()
}

// ending is an error by which the bridge itself ends a connection. Nobody reads its text.
type ending string

// Error returns the reason.
func (e ending) Error() string { return string(e) }

const (
	errClose    ending = "nothing comes any more"
	errTooMuch  ending = "the allowance is spent"
	errStopping ending = "the bridge ends"
)

// serve handles a connection until it ends.
func (c *conn) serve() {
	isHTTP2, err := c.isHTTP2()
	switch {
	case err != nil:
	case isHTTP2:
		c.serveHTTP2()
	default:
		_ = c.servePages() // HTTP/1.1 has no word for it
		_ = c.flush()      // the last answer, as far as it is taken
	}
	_ = c.tcp.Close() // the caller may have done so
	for i := range c.streams {
		c.streams[i].free()
	}
}

// isHTTP2 reports whether the connection begins with HTTP/2's preface, which it takes.
func (c *conn) isHTTP2() (bool, error) {
	for n := 1; ; n++ {
		if err := c.need(n); err != nil {
			return false, err
		}
		if c.in[c.start+n-1] != http2.Preface[n-1] {
			return false, nil
		}
		if n == len(http2.Preface) {
			c.start += n
			return true, nil
		}
	}
}

// wake has the connection's goroutine look for answers. Questions are locked, so that the connection is this one still.
func (c *conn) wake() {
	c.woken.Store(true)
	_ = c.tcp.SetReadDeadline(longAgo) // it fails once the connection is closed
}

var longAgo = time.Unix(1, 0)

// need reads until at least n bytes are there.
func (c *conn) need(n int) error {
	for c.end-c.start < n {
		if err := c.read(); err != nil {
			return err
		}
	}
	return nil
}

// read reads something, for which there has to be room, or sends an answer. Meanwhile it keeps to all deadlines.
func (c *conn) read() error {
	if c.start > 0 {
		c.end = copy(c.in[:], c.in[c.start:c.end])
		c.start = 0
	}
	for {
		deadline, err := c.attend()
		if err != nil {
			return err
		}
		if c.answered {
			c.answered = false
			return nil
		}
		_ = c.tcp.SetReadDeadline(deadline) // it fails if reading does
		if c.woken.Load() {
			continue
		}
		n, err := c.tcp.Read(c.in[c.end:])
		if c.end += n; n > 0 {
			return nil
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
	}
}

// attend answers what can be answered, writes what is queued, and returns when there is something to do again.
func (c *conn) attend() (deadline time.Time, err error) {
	c.woken.Store(false)
	now := time.Now()
	for i := range c.streams {
		if err := c.streams[i].attend(now); err != nil {
			return deadline, err
		}
	}
	if err := c.flush(); err != nil {
		return deadline, err
	}
	deadline, busy := c.due()
	if c.server.stopping.Load() && !busy {
		return deadline, errStopping
	}
	if !deadline.IsZero() && !now.Before(deadline) && !c.answered {
		return deadline, errClose // the streams have seen to theirs
	}
	return deadline, nil
}

// due returns when the connection has something to do, or has to end, if nothing comes.
func (c *conn) due() (deadline time.Time, busy bool) {
	for i := range c.streams {
		if st := &c.streams[i]; st.wants != wantsNone {
			busy, deadline = true, earliest(deadline, st.due())
		}
	}
	if !busy {
		deadline = c.asked.Add(idleTimeout)
	}
	if !c.began.IsZero() {
		deadline = earliest(deadline, c.began.Add(requestTimeout))
	}
	return deadline, busy
}

// earliest returns the earlier one of two times, of which zero is never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// spend takes from the allowance.
func (c *conn) spend(cost int) error {
	if now := time.Now(); c.left < allowance {
		if back := int(now.Sub(c.counted) * allowancePerSecond / time.Second); back > 0 {
			c.left, c.counted = min(allowance, c.left+back), now
		}
	} else {
		c.counted = now
	}
	if c.left -= cost; c.left < 0 {
		return errTooMuch
	}
	return nil
}

// earn gives back what an answer of the server is worth, and what the head of its request has cost.
func (c *conn) earn(cost int) {
	c.left = min(allowance, c.left+cost+allowancePerAnswer)
	c.asked = time.Now()
}

// queue has bytes written, at the latest before the next read.
func (c *conn) queue(b []byte) error { return write(c, b) }

func write[T []byte | string](c *conn, text T) error {
	for len(text) > 0 {
		n := copy(c.out[c.queued:], text)
		c.queued += n
		if text = text[n:]; len(text) > 0 {
			if err := c.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes what is queued.
func (c *conn) flush() error {
	if c.queued == 0 {
		return nil
	}
	_ = c.tcp.SetWriteDeadline(time.Now().Add(writeTimeout)) // it fails if writing does
	_, err := c.tcp.Write(c.out[:c.queued])
	c.queued = 0
	return err
}

// skip passes over n bytes.
func (c *conn) skip(n int) error {
	return c.each(n, func([]byte) error { return nil })
}

// each hands over n bytes in the parts in which they come.
func (c *conn) each(n int, take func(part []byte) error) error {
	for n > 0 {
		if err := c.need(1); err != nil {
			return err
		}
		part := c.in[c.start:min(c.end, c.start+n)]
		c.start += len(part)
		n -= len(part)
		if err := take(part); err != nil {
			return err
		}
	}
	return nil
}
