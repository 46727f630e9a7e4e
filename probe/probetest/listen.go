package probetest

import (
	"crypto/tls"
	"net"
	"net/http"

	"google.golang.org/grpc"
)

// rude is a listener that closes the first connections at once, as a port does
// whose server is only starting.
type rude struct {
	net.Listener
	hangups int
}

// Accept implements net.Listener.
func (r *rude) Accept() (net.Conn, error) {
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

// secure puts TLS, with the ALPN of the config, around a listener.
func (s *Server) secure(listener net.Listener) net.Listener {
	config := s.config.TLS.Clone()
	if s.config.ALPN != nil && s.config.ALPN[0] != "none" {
		config.NextProtos = s.config.ALPN
	}
	return tls.NewListener(listener, config)
}

// serveHTTP serves calls through the HTTP/2 server of net/http, whose windows
// can be smaller than those of grpc-go.
func (s *Server) serveHTTP(listener net.Listener, server *grpc.Server) {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	web := http.Server{Handler: server, Protocols: protocols, HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: s.config.Window}}
	s.Close = func() { _ = web.Close() }
	go func() { _ = web.Serve(listener) }()
}
