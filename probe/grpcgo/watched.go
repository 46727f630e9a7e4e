package grpcgo

import (
	"errors"
	"net"
)

// watched is a connection that is read along. It holds back a GOAWAY until all calls are made that can be: grpc-go
// makes none after it, although the server still answers those that it counts in, and each connection more is one that
// the server may leave too.
type watched struct {
	net.Conn
	attempt  *attempt
	number   int // from 1
	observer *observer

	// The attempt's mutex guards these.
	heeded bool // a GOAWAY is not held back any more
	closed bool
}

// Read implements net.Conn. It reads each frame alone, so that grpc-go has handled all before the GOAWAY that is held
// back.
func (w *watched) Read(p []byte) (int, error) {
	if unread := w.attempt.unread(w.observer); unread > 0 {
		p = p[:min(len(p), unread)]
	}
	n, err := w.Conn.Read(p)
	if n, err = w.attempt.read(w.observer, p[:n], err); err == nil {
		w.attempt.hold(w)
	}
	return n, err
}

// Close implements net.Conn.
func (w *watched) Close() error {
	w.attempt.close(w)
	return w.Conn.Close()
}

// Write implements net.Conn. It leaves errors to Read: a peer that hangs up has often sent the reason just before, but
// after an error of Write grpc-go would not read it any more.
func (w *watched) Write(p []byte) (int, error) {
	if _, err := w.Conn.Write(p); err != nil && errors.Is(err, net.ErrClosed) {
		return 0, err
	}
	return len(p), nil
}

// unread returns how many bytes of the frame that is coming have not come yet, as observer.unread does.
func (a *attempt) unread(o *observer) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return o.unread()
}

// read takes what a connection has read, and the error of that. It returns what grpc-go is to see of both: nothing of a
// server that does not begin with SETTINGS.
func (a *attempt) read(o *observer, data []byte, err error) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := len(data)
	if bad := o.read(data); bad != nil {
		n, err = 0, bad
	}
	if err != nil && a.err == nil && o == a.observer {
		a.err = err
	}
	return n, err
}

// hold waits, if a GOAWAY has come, until no call can be made on the connection any more.
func (a *attempt) hold(w *watched) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for w.observer.goAway != nil && !w.heeded && !w.closed {
		if w.heeded = a.allMade(w); !w.heeded {
			a.changed.Wait()
		}
	}
}

// allMade reports whether there are calls, and each of them has been made, or waits for another one to end, of which
// the server allows no more at once. a is locked.
func (a *attempt) allMade(w *watched) bool {
	waiting, open := false, uint32(0)
	for _, c := range a.calls {
		waiting = waiting || c.on == 0 && !c.ended
		if c.on == w.number {
			open++
		}
	}
	return a.calls != nil && (!waiting || open >= w.observer.maxStreams)
}

func (a *attempt) close(w *watched) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w.closed = true
	a.changed.Broadcast()
}
