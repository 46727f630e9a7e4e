package probetest

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"syscall"

	"google.golang.org/grpc"
)

// listen is net.Listen. On tcp6, listen also reserves the port on 127.0.0.1, so that no other server listens there: a
// probe of localhost tries 127.0.0.1 first.
func listen(network, address string) (net.Listener, error) {
	for {
		listener, err := net.Listen(network, address)
		if err != nil || network != "tcp6" {
			return listener, err
		}
		_, release, err := reserve(listener.Addr().(*net.TCPAddr).Port)
		if err == nil {
			return &reserved{listener, release}, nil
		}
		if err := listener.Close(); err != nil {
			return nil, err
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, err
		}
	}
}

// reserved is a listener with a reserved port on another address.
type reserved struct {
	net.Listener
	release func()
}

// Close implements net.Listener.
func (r *reserved) Close() error {
	r.release()
	return r.Listener.Close()
}

// reserve takes a TCP port of 127.0.0.1, or any free port for 0, without listening. Nobody else gets the port, and
// connections to the port are refused.
func reserve(port int) (reserved int, release func(), err error) {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, err
	}
	release = sync.OnceFunc(func() { _ = syscall.Close(socket) })
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		release()
		return 0, nil, err
	}
	address, err := syscall.Getsockname(socket)
	if err != nil {
		release()
		return 0, nil, err
	}
	return address.(*syscall.SockaddrInet4).Port, release, nil
}

// hangupListener closes the first connections at once, like the port of a server that is still starting.
type hangupListener struct {
	net.Listener
	hangups int
}

// Accept implements net.Listener.
func (r *hangupListener) Accept() (net.Conn, error) {
	for ; r.hangups > 0; r.hangups-- {
		conn, err := r.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if err := conn.Close(); err != nil {
			return nil, err
		}
	}
	return r.Listener.Accept()
}

// secure wraps a listener in TLS, with the ALPN of the config.
func (s *Server) secure(listener net.Listener) net.Listener {
	config := s.config.TLS.Clone()
	if s.config.ALPN != nil && s.config.ALPN[0] != "none" {
		config.NextProtos = s.config.ALPN
	}
	return tls.NewListener(listener, config)
}

// serveHTTP serves calls through the HTTP/2 server of net/http, which allows smaller windows than grpc-go.
func (s *Server) serveHTTP(listener net.Listener, server *grpc.Server) {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	web := http.Server{
		Handler: server, Protocols: protocols,
		HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: s.config.Window},
	}
	s.Close = func() { _ = web.Close() }
	go func() { _ = web.Serve(listener) }()
}
