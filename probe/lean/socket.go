//go:build linux

package lean

import (
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check"
)

// socket is a blocking socket for one goroutine. The kernel keeps the deadline (SO_RCVTIMEO and SO_SNDTIMEO,
// socket(7)). A probe makes one connection and waits for nothing else, so the poller of package net, with goroutines
// and timers, would add a tenth to the cost of a probe without any gain.
type socket struct {
	fd       int
	deadline time.Time // zero for none
}

// connect opens a stream socket to addr. The error at the deadline is os.ErrDeadlineExceeded.
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
		// Without TCP_NODELAY, a second small write would wait for the acknowledgement of the first (RFC 896).
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
			if s.isItself(addr) {
				return os.NewSyscallError("connect", syscall.ECONNREFUSED)
			}
			return nil
		case syscall.EINTR:
			// The kernel goes on connecting, and a second connect waits for the connection.
		case syscall.EINPROGRESS, syscall.EAGAIN, syscall.EALREADY:
			return os.ErrDeadlineExceeded
		default:
			return os.NewSyscallError("connect", err)
		}
	}
}

// isItself reports whether the socket is connected to itself. If nobody listens on a port of this machine, and the
// kernel picks the same port for the probe's end, the two ends are one (RFC 9293 section 3.5, simultaneous open).
func (s *socket) isItself(addr syscall.Sockaddr) bool {
	port := 0
	switch addr := addr.(type) {
	case *syscall.SockaddrInet4:
		port = addr.Port
	case *syscall.SockaddrInet6:
		port = addr.Port
	}
	local, err := syscall.Getsockname(s.fd)
	if err != nil {
		return false
	}
	switch local := local.(type) {
	case *syscall.SockaddrInet4:
		peer, ok := s.peer(local.Port == port).(*syscall.SockaddrInet4)
		return ok && peer.Port == local.Port && peer.Addr == local.Addr
	case *syscall.SockaddrInet6:
		peer, ok := s.peer(local.Port == port).(*syscall.SockaddrInet6)
		return ok && peer.Port == local.Port && peer.Addr == local.Addr
	}
	return false
}

// peer returns the address of the remote end, or nil if not needed or on an error.
func (s *socket) peer(needed bool) syscall.Sockaddr {
	if !needed {
		return nil
	}
	peer, err := syscall.Getpeername(s.fd)
	if err != nil {
		return nil
	}
	return peer
}

// keepAlive lets the kernel probe a silent peer. After a minute without an answer, reads fail with ETIMEDOUT. Errors
// are ignored: a unix socket neither takes nor needs the options.
func (s *socket) keepAlive() {
	for _, option := range []struct{ level, name, value int }{
		{syscall.SOL_SOCKET, syscall.SO_KEEPALIVE, 1},
		{syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE, int(check.KeepAlive.Idle / time.Second)},
		{syscall.IPPROTO_TCP, syscall.TCP_KEEPINTVL, int(check.KeepAlive.Interval / time.Second)},
		{syscall.IPPROTO_TCP, syscall.TCP_KEEPCNT, check.KeepAlive.Count},
	} {
		_ = syscall.SetsockoptInt(s.fd, option.level, option.name, option.value)
	}
}

// longestTimeout fits into the seconds of a 32-bit kernel, and is longer than the kernel tries to connect
// (tcp_syn_retries, ip(7)). After longestTimeout, a read or a write begins again.
const longestTimeout = 24 * time.Hour

// arm sets the kernel's timeout to the time left until the deadline. For the kernel too, zero means no timeout.
func (s *socket) arm(option int) error {
	var timeout syscall.Timeval
	if !s.deadline.IsZero() {
		left := time.Until(s.deadline)
		if left <= 0 {
			return os.ErrDeadlineExceeded
		}
		timeout = syscall.NsecToTimeval(int64(min(max(left, time.Microsecond), longestTimeout)))
	}
	return os.NewSyscallError("setsockopt", syscall.SetsockoptTimeval(s.fd, syscall.SOL_SOCKET, option, &timeout))
}

// Read implements io.Reader. The error at the deadline is os.ErrDeadlineExceeded.
func (s *socket) Read(b []byte) (int, error) {
	for {
		if err := s.arm(syscall.SO_RCVTIMEO); err != nil {
			return 0, err
		}
		switch n, err := syscall.Read(s.fd, b); {
		case err == syscall.EINTR || err == syscall.EAGAIN:
			// The read was interrupted, or the deadline has come: arm checks the deadline.
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0 && len(b) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// Write implements io.Writer. The error at the deadline is os.ErrDeadlineExceeded.
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

// SetDeadline sets the time after which every Read and Write fails.
func (s *socket) SetDeadline(t time.Time) error { s.deadline = t; return nil }

// The remaining methods of net.Conn. Package crypto/tls requires the methods, but does not use the results.

func (s *socket) SetReadDeadline(t time.Time) error  { return s.SetDeadline(t) }
func (s *socket) SetWriteDeadline(t time.Time) error { return s.SetDeadline(t) }
func (s *socket) LocalAddr() net.Addr                { return &net.UnixAddr{} }
func (s *socket) RemoteAddr() net.Addr               { return &net.UnixAddr{} }
