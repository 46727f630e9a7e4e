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
// buffer many times over, so only a server that has long stopped reading can make one wait.
const writeTimeout = time.Second

// shared is a connection that many goroutines call on at once. One goroutine of its own receives, from the first call
// on: a server may take a call with which its GOAWAY has crossed, and no call may be made after that was read.
type shared struct {
	files   credentialFiles
	born    time.Time
	session *session

	mu      sync.Mutex // of all that follows, and of the session apart from reading
	conn    *conn
	waiting []*exchange
	users   int   // attempts that may call
	retired bool  // takes no further attempts, and ends with the last one
	started bool  // receives
	ended   error // why nothing comes any more; nil while it may
}

// exchange is a number of calls that are waited for together.
type exchange struct {
	all  []*stream
	done chan struct{} // closed once all are complete
}

// connectShared makes a connection and waits for the server's SETTINGS, by the deadline.
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

// enter makes place for an attempt, unless the connection is not good for new calls.
func (s *shared) enter(files credentialFiles) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retired || s.ended != nil || s.session.goAway != nil || !s.files.equal(files) || time.Since(s.born) > maxAge {
		return false
	}
	s.users++
	return true
}

// leave ends an attempt.
func (s *shared) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
	s.closeUnused()
}

// retire lets the attempts that go on come to their end, and then closes the connection.
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

// run makes calls and waits until all are complete, or until the deadline, whose error it returns; zero is none.
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

// abandon ends an exchange at its deadline. The calls that are still open are cancelled. A connection on which an
// answer is late may be one that leads nowhere any more, so it is not used again.
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

// forgive leaves those calls lost that are so because the server has closed the connection without a word. On one that
// was made for them any other reason is the outcome.
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

// send sends what is queued, and wakes those who wait. s is locked.
func (s *shared) send() {
	if s.ended == nil {
		s.session.pump()
		_ = s.conn.sock.SetWriteDeadline(time.Now().Add(writeTimeout)) // it fails if writing does
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

// receive handles what the server sends, until the connection ends.
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
	// As long as there are more frames, what they need is sent together.
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

// fail ends all calls that are open.
func (s *shared) fail() {
	for _, call := range s.session.streams {
		if !call.done {
			call.fail(unavailable, reason(s.ended))
			call.lost = true
		}
	}
}

// adopt makes a connection of package net of a socket: it can be read by one goroutine while another one writes.
func adopt(s *socket) (connection, error) {
	file := os.NewFile(uintptr(s.fd), "")
	defer file.Close()
	conn, err := net.FileConn(file)
	return polled{conn}, err
}

// polled is a connection of package net.
type polled struct{ net.Conn }

func (p polled) keepAlive() {
	if tcp, ok := p.Conn.(*net.TCPConn); ok {
		_ = tcp.SetKeepAliveConfig(check.KeepAlive) // as in [socket.keepAlive]
	}
}

// credentialFiles tell whether the files with certificates and keys have changed: nil for a file that cannot be found
// and for one that no flag names.
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
