package lean

import (
	"errors"
	"os"
	"sync"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/options"
)

// maxAge is how long a connection is kept. A new connection verifies the server's certificate, looks up the server's
// name, and shows that the server still takes connections, as each exec probe does.
const maxAge = time.Minute

// Kept is a [check.Transport] for a program that asks again and again. Kept keeps the connection for later attempts,
// which go to the same server with the same credentials. Attempts may run at once. A new connection replaces a
// connection that is lost, that the server is closing, that is old, or whose certificates have changed on disk. The
// zero value is ready for use.
type Kept struct {
	mu      sync.Mutex
	current *shared  // nil for none
	dialing *dialing // nil if no connection is being made
}

// dialing is an attempt to connect, for all attempts that wait for the connection.
type dialing struct {
	began   time.Time
	ends    time.Time // deadline for connecting
	files   credentialFiles
	waiting int           // attempts
	done    chan struct{} // closed at the end
	conn    *shared       // nil before the end, or if err is set
	err     error
}

// Dial implements [check.Transport]. The connection has got the server's SETTINGS.
func (k *Kept) Dial(o *options.Options) (check.Conn, error) {
	if o.ALTS || o.SPIFFE {
		return nil, errNeedsFull
	}
	return k.lease(o, o.Budget.Connect(), nil)
}

// Close closes the connection as soon as no attempt uses the connection.
func (k *Kept) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.retire()
}

// retire gives up the current connection. k is locked.
func (k *Kept) retire() {
	if k.current != nil {
		k.current.retire()
		k.current = nil
	}
}

// lease returns a connection for one attempt: the kept connection, if good for new calls and not the connection to
// avoid, or else a new connection, made by the deadline.
func (k *Kept) lease(o *options.Options, deadline time.Time, avoid *shared) (*lease, error) {
	for asked := time.Now(); ; {
		conn, d := k.find(o, deadline, avoid)
		if conn != nil {
			return newLease(k, conn, o, true), nil
		}
		if !d.wait(deadline) {
			k.abandon(d)
			return nil, &check.DialError{Step: check.StepConnect, Err: os.ErrDeadlineExceeded}
		}
		switch {
		case d.err == nil:
			return newLease(k, d.conn, o, false), nil
		case !d.began.Before(asked) || !time.Now().Before(deadline):
			return nil, d.err
		}
		// The failed dialing had begun before this attempt: a new connection may succeed.
	}
}

// wait waits for the connection, and returns false if the deadline comes first. A dialing with an earlier or
// equal deadline is always awaited, however busy the machine is, because the dialing's error names the slow step.
func (d *dialing) wait(deadline time.Time) bool {
	if !d.ends.After(deadline) {
		<-d.done
		return true
	}
	timer := options.NewTimer(deadline)
	defer timer.Stop()
	select {
	case <-d.done:
		return true
	case <-timer.C:
		return false
	}
}

// find returns the kept connection, already entered for the attempt, or the connection under way.
func (k *Kept) find(o *options.Options, deadline time.Time, avoid *shared) (*shared, *dialing) {
	files := credentialFilesOf(o)
	k.mu.Lock()
	defer k.mu.Unlock()
	if c := k.current; c != nil {
		if c != avoid && c.enter(files) {
			return c, nil
		}
		k.retire()
	}
	d := k.dialing
	if d == nil || !d.files.equal(files) {
		d = &dialing{began: time.Now(), ends: deadline, files: files, done: make(chan struct{})}
		k.dialing = d
		own := *o // attempts may wait for the connection longer than this one
		go k.dial(d, &own, deadline)
	}
	d.waiting++
	return nil, d
}

// abandon is called by an attempt that no longer waits.
func (k *Kept) abandon(d *dialing) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if d.waiting--; d.conn != nil {
		d.conn.leave()
	}
}

// dial makes a connection for all waiting attempts.
func (k *Kept) dial(d *dialing, o *options.Options, deadline time.Time) {
	conn, err := connectShared(o, deadline, d.files)
	k.mu.Lock()
	defer k.mu.Unlock()
	if d.conn, d.err = conn, err; err == nil {
		conn.users = d.waiting
		if k.dialing == d {
			k.retire()
			k.current = conn
		} else {
			conn.retired = true // the certificates have changed in the meantime
		}
	}
	if k.dialing == d {
		k.dialing = nil
	}
	close(d.done)
}

// lease is a [check.Conn] for one attempt over a shared connection.
type lease struct {
	calls
	from *Kept
	conn *shared
	// kept means that the connection is older than the attempt, so the server may have closed the connection since.
	kept bool
}

func newLease(k *Kept, conn *shared, o *options.Options, kept bool) *lease {
	l := &lease{calls: calls{options: o}, from: k, conn: conn, kept: kept}
	l.run = l.runShared
	return l
}

// Settle implements [check.Conn]. Settle makes a new connection, since the kept connection does not show that the
// server still takes connections.
func (l *lease) Settle() error {
	conn, err := Transport{}.Dial(l.options)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // the connection has served its purpose
	return conn.Settle()
}

// Close implements [check.Conn]. The connection itself is kept.
func (l *lease) Close() error {
	l.conn.leave()
	return nil
}

// runShared implements calls.run. Calls without an answer are made once more on another connection, within the deadline
// of the calls.
func (l *lease) runShared(deadline func() time.Time, all ...*stream) error {
	until := deadline()
	if err := l.conn.run(until, all); err != nil {
		return err
	}
	if !l.kept {
		l.conn.forgive(all)
	}
	again := unanswered(all)
	if again == nil {
		return nil
	}
	l.conn.forget(again)
	next, err := l.from.lease(l.options, l.options.Budget.Reconnect(until), l.conn)
	if err != nil {
		return l.notAgain(err, until, again)
	}
	defer func() { _ = next.Close() }() // never fails
	for _, call := range again {
		call.again()
	}
	return next.conn.run(until, again)
}

// notAgain returns the error for calls that get no second connection. If the first connection was kept, the failure of
// the second is the outcome of the attempt, as for a first connection. After the calls' deadline, the error is
// os.ErrDeadlineExceeded.
func (l *lease) notAgain(err error, deadline time.Time, again []*stream) error {
	if !deadline.IsZero() && !time.Now().Before(deadline) {
		err = os.ErrDeadlineExceeded
	} else if failed, ok := errors.AsType[*check.DialError](err); ok && !l.kept {
		for _, call := range again {
			call.reason += "; connecting again: " + reason(failed.Err)
		}
		return nil
	}
	for _, call := range again {
		call.done = false
	}
	return err
}
