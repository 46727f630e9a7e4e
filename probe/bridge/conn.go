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

// conn is a caller's connection. One goroutine reads, answers and writes; the end of a round leaves the outcome at the
// waiting streams, and wakes the goroutine. All the memory of a connection is in this struct (see slotSize).
type conn struct {
	shared  *shared
	tcp     net.Conn
	from    netip.Addr
	caller  *caller // of the limiter
	evicted bool    // closed by the limiter

	accepted time.Time
	pending  atomic.Int32 // streams that wait for an answer
	woken    atomic.Bool

	in         [readSize]byte // in[start:end] was read, and is not handled yet
	start, end int
	out        [writeSize]byte // out[:queued] is not sent yet
	queued     int

	allowance    int       // see maxAllowance
	refilled     time.Time // when time last added to the allowance
	partialSince time.Time // when the incomplete frame or request began; zero for none
	lastAnswer   time.Time // of the server; at first, when the connection was accepted
	pageSent     bool      // since the last read
	lastRequest  bool      // of HTTP/1.1: the connection ends with the answer

	streams [maxStreams]stream
	http2   session
}

// reset prepares a conn for another connection.
func (c *conn) reset(s *shared, tcp net.Conn, from netip.Addr) {
	now := time.Now()
	c.shared, c.tcp, c.from = s, tcp, from
	c.accepted, c.lastAnswer, c.refilled, c.partialSince, c.allowance = now, now, now, now, maxAllowance
	c.start, c.end, c.queued, c.pageSent, c.lastRequest = 0, 0, 0, false, false
	c.woken.Store(false)
	for i := range c.streams {
		c.streams[i] = stream{conn: c}
	}
	c.http2.reset()
}

// closeError is why the bridge itself ends a connection.
type closeError string

// Error returns the reason.
func (e closeError) Error() string { return string(e) }

const (
	errIdle     closeError = "nothing arrives"
	errTooMuch  closeError = "the allowance is spent"
	errStopping closeError = "the bridge ends"
)

func (c *conn) serve() {
	isHTTP2, err := c.isHTTP2()
	switch {
	case err != nil:
	case isHTTP2:
		c.serveHTTP2()
	default:
		_ = c.servePages() // HTTP/1.1 has no message for an error
		_ = c.flush()      // the caller may not take the last answer
	}
	_ = c.tcp.Close() // the caller may have done so
	for i := range c.streams {
		c.streams[i].close()
	}
}

// isHTTP2 reports whether the connection begins with HTTP/2's preface, and reads the preface.
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

// wake lets the connection's goroutine look for answers. The scheduler is locked, so c is still the same connection.
func (c *conn) wake() {
	c.woken.Store(true)
	_ = c.tcp.SetReadDeadline(longAgo) // it fails once the connection is closed
}

var longAgo = time.Unix(1, 0)

// need reads until in has n bytes.
func (c *conn) need(n int) error {
	for c.end-c.start < n {
		if err := c.read(); err != nil {
			return err
		}
	}
	return nil
}

// read returns after some bytes, for which the buffer needs room, or after a page was sent, and observes all deadlines.
func (c *conn) read() error {
	if c.start > 0 {
		c.end = copy(c.in[:], c.in[c.start:c.end])
		c.start = 0
	}
	for {
		deadline, err := c.advance()
		if err != nil {
			return err
		}
		if c.pageSent {
			c.pageSent = false
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

// advance sends the answers that have arrived, flushes, and returns the time of the next event.
func (c *conn) advance() (deadline time.Time, err error) {
	c.woken.Store(false)
	now := time.Now()
	for i := range c.streams {
		if err := c.streams[i].advance(now); err != nil {
			return deadline, err
		}
	}
	if err := c.flush(); err != nil {
		return deadline, err
	}
	deadline, busy := c.due()
	if c.shared.stopping.Load() && !busy {
		return deadline, errStopping
	}
	if !deadline.IsZero() && !now.Before(deadline) && !c.pageSent {
		return deadline, errIdle // deadlines of streams are handled above
	}
	return deadline, nil
}

// due returns the next deadline, and whether a request is open.
func (c *conn) due() (deadline time.Time, busy bool) {
	for i := range c.streams {
		if st := &c.streams[i]; st.wants != wantsNone {
			busy, deadline = true, earliest(deadline, st.due())
		}
	}
	if !busy {
		deadline = c.lastAnswer.Add(idleTimeout)
	}
	if !c.partialSince.IsZero() {
		deadline = earliest(deadline, c.partialSince.Add(requestTimeout))
	}
	return deadline, busy
}

// earliest returns the earlier of two times; the zero time is never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func (c *conn) spend(cost int) error {
	if now := time.Now(); c.allowance < maxAllowance {
		if back := int(now.Sub(c.refilled) * allowancePerSecond / time.Second); back > 0 {
			c.allowance, c.refilled = min(maxAllowance, c.allowance+back), now
		}
	} else {
		c.refilled = now
	}
	if c.allowance -= cost; c.allowance < 0 {
		return errTooMuch
	}
	return nil
}

// earn adds to the allowance for an answer of the server, and refunds the cost of the request's head.
func (c *conn) earn(cost int) {
	c.allowance = min(maxAllowance, c.allowance+cost+allowancePerAnswer)
	c.lastAnswer = time.Now()
}

// write queues a text, which is sent before the next read at the latest.
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

// flush sends out.
func (c *conn) flush() error {
	if c.queued == 0 {
		return nil
	}
	_ = c.tcp.SetWriteDeadline(time.Now().Add(writeTimeout)) // it fails if writing does
	_, err := c.tcp.Write(c.out[:c.queued])
	c.queued = 0
	return err
}

func (c *conn) skip(n int) error {
	return c.eachPart(n, func([]byte) error { return nil })
}

// eachPart calls take for n bytes, part by part as they arrive.
func (c *conn) eachPart(n int, take func(part []byte) error) error {
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
