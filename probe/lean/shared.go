package lean

import (
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/options"
)

// writeTimeout bounds a write to a server that does not read. The requests of health checks fit into the kernel's
// buffer many times over, so only a server that has long stopped reading can make a write wait.
const writeTimeout = time.Second

// shared is a connection for calls of many goroutines at once. A separate goroutine receives, from the first call on: a
// server may take a call that has crossed with the GOAWAY, and no call may be made after the GOAWAY was read.
type shared struct {
	files   credentialFiles
	born    time.Time
	session *session

	mu      sync.Mutex // guards the fields below, and the session apart from reading
	conn    *conn
	waiting []*exchange
	users   int   // attempts that may call
	retired bool  // takes no further attempts, and ends with the last one
	started bool  // receives
	ended   error // why the connection has ended; nil before the end
}

// exchange is a number of calls that are awaited together.
type exchange struct {
	all  []*stream
	done chan struct{} // closed once all are complete
}

// connectShared connects and waits for the server's SETTINGS, by the deadline.
func connectShared(o *options.Options, deadline time.Time, files credentialFiles) (*shared, error) {
	c, err := newConn(o, deadline)
	if err != nil {
		return nil, err
	}
	c.adopt = adopt
	if err = c.connect(deadline); err == nil {
		err = c.Settle()
	}
	if err == nil {
		c.sock.keepAlive()
		err = c.sock.SetDeadline(time.Time{})
	}
	if err != nil {
		_ = c.Close() // the cause is what counts
		return nil, err
	}
	return &shared{files: files, born: time.Now(), session: c.session, conn: c}, nil
}

// enter makes place for an attempt. It returns false if the connection is not good for new calls.
func (s *shared) enter(files credentialFiles) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retired || s.ended != nil || s.session.goAway != nil || !s.files.equal(files) || time.Since(s.born) > maxAge {
		return false
	}
	s.users++
	return true
}

func (s *shared) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
	s.closeUnused()
}

// retire lets the current attempts finish, and then closes the connection.
func (s *shared) retire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retired = true
	s.closeUnused()
}

func (s *shared) closeUnused() {
	if s.retired && s.users == 0 {
		s.end(net.ErrClosed) // receive notices
	}
}

// run makes calls and waits until all are complete, or until the deadline, with os.ErrDeadlineExceeded. A zero deadline
// is none.
func (s *shared) run(deadline time.Time, all []*stream) error {
	e := s.begin(all)
	timer := options.NewTimer(deadline)
	defer timer.Stop()
	select {
	case <-e.done:
		return nil
	case <-timer.C:
		return s.abandon(e)
	}
}

// begin sends calls, as far as the server's limits allow.
func (s *shared) begin(all []*stream) *exchange {
	e := &exchange{all: all, done: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, e)
	s.session.add(all...)
	if s.session.goAway != nil {
		for _, call := range all {
			call.refuse(s.session.goAway)
		}
	}
	s.send()
	if !s.started {
		s.started = true
		go s.receive()
	}
	return e
}

// abandon ends an exchange at its deadline and cancels the open calls. A connection with a late answer may lead nowhere
// any more, so the connection takes no further attempts.
func (s *shared) abandon(e *exchange) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if complete(e.all) {
		return nil
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(other *exchange) bool { return other == e })
	for _, call := range e.all {
		s.session.cancel(call)
	}
	s.retired = true
	s.send()
	return os.ErrDeadlineExceeded
}

// forgive leaves a call lost only if the server has closed the connection without a word. On a connection that was made
// for the calls, any other reason is the outcome.
func (s *shared) forgive(all []*stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, call := range all {
		call.lost = call.lost && check.IsHangup(s.ended)
	}
}

// forget lets go of calls that are made once more on another connection.
func (s *shared) forget(all []*stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, call := range all {
		s.session.cancel(call)
	}
}

// send sends the queued frames, and wakes the goroutines whose calls are complete. s is locked.
func (s *shared) send() {
	if s.ended == nil {
		s.session.pump()
		_ = s.conn.sock.SetWriteDeadline(time.Now().Add(writeTimeout)) // if this fails, writing fails too
		if err := s.session.flush(); err != nil {
			s.end(err)
		}
	}
	if s.ended != nil {
		s.fail()
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(e *exchange) bool {
		if complete(e.all) {
			close(e.done)
			return true
		}
		return false
	})
}

func (s *shared) receive() {
	for s.receiveFrame() {
	}
}

func (s *shared) receiveFrame() bool {
	f, err := s.session.in.next()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		err = s.session.handle(f)
	}
	if err != nil {
		s.end(err)
	}
	// While more frames are buffered, the answers to the frames are collected.
	if s.ended != nil || !s.session.in.buffered() {
		s.send()
	}
	return s.ended == nil
}

// end notes why the connection has ended. The first reason counts.
func (s *shared) end(err error) {
	if s.ended != nil {
		return
	}
	if check.IsHangup(err) && s.session.goAway != nil {
		err = s.session.goAway
	}
	s.ended = err
	_ = s.conn.Close() // the cause is what counts
}

func (s *shared) fail() {
	for _, call := range s.session.streams {
		if !call.done {
			call.fail(unavailable, reason(s.ended))
			call.lost = true
		}
	}
}

// adopt turns a socket into a connection of package net: one goroutine can read while another writes.
func adopt(s *socket) (connection, error) {
	file := os.NewFile(uintptr(s.fd), "")
	defer file.Close()
	conn, err := net.FileConn(file)
	return polled{conn}, err
}

type polled struct{ net.Conn }

func (p polled) keepAlive() {
	if tcp, ok := p.Conn.(*net.TCPConn); ok {
		_ = tcp.SetKeepAliveConfig(check.KeepAlive) // as in [socket.keepAlive]
	}
}

// credentialFiles show changes of the files with certificates and keys. An entry is nil for a file that is missing or
// that no flag names.
type credentialFiles [3]os.FileInfo

func credentialFilesOf(o *options.Options) (files credentialFiles) {
	for i, path := range [...]string{o.TLSCACert, o.TLSClientCert, o.TLSClientKey} {
		if path == "" {
			continue
		}
		if info, err := os.Stat(path); err == nil {
			files[i] = info
		}
	}
	return files
}

func (c credentialFiles) equal(other credentialFiles) bool {
	for i, file := range c {
		if file == nil || other[i] == nil {
			if file != other[i] {
				return false
			}
			continue
		}
		if !os.SameFile(file, other[i]) || file.Size() != other[i].Size() || !file.ModTime().Equal(other[i].ModTime()) {
			return false
		}
	}
	return true
}
