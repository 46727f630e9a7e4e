//go:build unix

package lean

import (
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// socket is a blocking socket that one goroutine uses. Its deadline is kept by the kernel (SO_RCVTIMEO and SO_SNDTIMEO,
// socket(7)): a probe makes one connection and waits for nothing else, so package net's poller, its goroutines and its
// timers would be a tenth of what a probe costs, for nothing.
type socket struct {
	fd       int
	deadline time.Time // zero for none
}

// connect opens a stream socket to addr. It returns os.ErrDeadlineExceeded at the deadline.
func connect(family int, addr syscall.Sockaddr, deadline time.Time) (*socket, error) {
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	s := &socket{fd: fd, deadline: deadline}
	if err := s.connect(family, addr); err != nil {
		syscall.Close(fd)
		return nil, err
	}
	return s, nil
}

func (s *socket) connect(family int, addr syscall.Sockaddr) error {
	if family != syscall.AF_UNIX {
		// Without it a second small write would wait for the acknowledgement of the first (RFC 896).
		if err := syscall.SetsockoptInt(s.fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1); err != nil {
			return os.NewSyscallError("setsockopt", err)
		}
	}
	for {
		if err := s.arm(syscall.SO_SNDTIMEO); err != nil {
			return err
		}
		switch err := syscall.Connect(s.fd, addr); err {
		case nil, syscall.EISCONN:
			return nil
		case syscall.EINTR:
			// The connection goes on in the kernel, and a second connect waits for it.
		case syscall.EINPROGRESS, syscall.EAGAIN, syscall.EALREADY:
			return os.ErrDeadlineExceeded
		default:
			return os.NewSyscallError("connect", err)
		}
	}
}

// arm sets the kernel's timeout to what is left until the deadline; zero means none to the kernel as well.
func (s *socket) arm(option int) error {
	var timeout syscall.Timeval
	if !s.deadline.IsZero() {
		left := time.Until(s.deadline)
		if left <= 0 {
			return os.ErrDeadlineExceeded
		}
		timeout = syscall.NsecToTimeval(int64(max(left, time.Microsecond)))
	}
	return os.NewSyscallError("setsockopt", syscall.SetsockoptTimeval(s.fd, syscall.SOL_SOCKET, option, &timeout))
}

// Read is io.Reader's; it returns os.ErrDeadlineExceeded at the deadline.
func (s *socket) Read(b []byte) (int, error) {
	for {
		if err := s.arm(syscall.SO_RCVTIMEO); err != nil {
			return 0, err
		}
		switch n, err := syscall.Read(s.fd, b); {
		case err == syscall.EINTR || err == syscall.EAGAIN:
			// Interrupted, or at the deadline: arm knows.
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0 && len(b) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// Write is io.Writer's; it returns os.ErrDeadlineExceeded at the deadline.
func (s *socket) Write(b []byte) (int, error) {
	written := 0
	for written < len(b) {
		if err := s.arm(syscall.SO_SNDTIMEO); err != nil {
			return written, err
		}
		n, err := syscall.Write(s.fd, b[written:])
		if n > 0 {
			written += n
		}
		if err != nil && err != syscall.EINTR && err != syscall.EAGAIN {
			return written, os.NewSyscallError("write", err)
		}
	}
	return written, nil
}

// Close closes the socket.
func (s *socket) Close() error { return os.NewSyscallError("close", syscall.Close(s.fd)) }

// SetDeadline sets the time at which a Read or a Write in progress or to come fails.
func (s *socket) SetDeadline(t time.Time) error { s.deadline = t; return nil }

// The rest of net.Conn, for crypto/tls, which takes nothing from it.

func (s *socket) SetReadDeadline(t time.Time) error  { return s.SetDeadline(t) }
func (s *socket) SetWriteDeadline(t time.Time) error { return s.SetDeadline(t) }
func (s *socket) LocalAddr() net.Addr                { return &net.UnixAddr{} }
func (s *socket) RemoteAddr() net.Addr               { return &net.UnixAddr{} }
