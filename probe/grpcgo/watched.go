package grpcgo

import (
	"errors"
	"net"
)

// watched is a connection with an observer. A GOAWAY is held back until all possible calls are made: grpc-go makes no
// call after a GOAWAY, although the server still answers calls up to the GOAWAY's last stream, and the server may leave
// each further connection too.
type watched struct {
	net.Conn
	attempt  *attempt
	number   int // from 1
	observer *observer

	// Guarded by the attempt's mutex.
	heeded bool // a GOAWAY is no longer held back
	closed bool
}

// Read implements net.Conn. Each frame is read alone, so that grpc-go has handled all frames before the held GOAWAY.
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

// Write implements net.Conn. Errors are left to Read: a peer that hangs up has often sent the reason just before, but
// after an error of Write grpc-go would not read the reason.
func (w *watched) Write(p []byte) (int, error) {
	if _, err := w.Conn.Write(p); err != nil && errors.Is(err, net.ErrClosed) {
		return 0, err
	}
	return len(p), nil
}

// unread is observer.unread with the lock.
func (a *attempt) unread(o *observer) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return o.unread()
}

// read takes the bytes and the error of a read, and returns the part for grpc-go: nothing of a server that does not
// begin with SETTINGS.
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

// hold waits, if a GOAWAY has come, until no further call can be made on the connection.
func (a *attempt) hold(w *watched) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for w.observer.goAway != nil && !w.heeded && !w.closed {
		if w.heeded = a.allMade(w); !w.heeded {
			a.changed.Wait()
		}
	}
}

// allMade reports whether there are calls, and each call has been made or waits for the end of another, because the
// server allows no more at once. a is locked.
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
