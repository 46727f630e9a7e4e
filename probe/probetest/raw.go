package probetest

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync/atomic"
)

// rawProtocols are servers without gRPC, by protocol. The connection is closed once the function has returned and the
// peer has hung up.
var rawProtocols = map[string]func(net.Conn){
	"silence": func(net.Conn) {},
	"smtp":    func(c net.Conn) { _, _ = io.WriteString(c, "220 mail.example ready\r\n") },
	// A fatal alert, unexpected_message, in a record of TLS 1.2 (RFC 5246 sections 6.2.1 and 7.2): the answer of
	// OpenSSL to plain text.
	"tls-alert": func(c net.Conn) { _, _ = c.Write([]byte{21, 3, 3, 0, 2, 2, 10}) },
	"hangup":    func(c net.Conn) { _ = c.Close() },
}

// echoes is the protocol of a web server that answers a request with the request's content type and body, as servers
// for debugging do.
const echoes = "http2-echo"

// webServers are the HTTP statuses of web servers, for every request, by protocol.
var webServers = map[string]int{
	"http1":     http.StatusNotFound,
	"http2":     http.StatusNotFound,
	"http2-200": http.StatusOK,
	"http2-400": http.StatusBadRequest,
	"http2-401": http.StatusUnauthorized,
	"http2-403": http.StatusForbidden,
	"http2-429": http.StatusTooManyRequests,
	echoes:      http.StatusOK,
}

func (s *Server) serveRaw(listener net.Listener) error {
	s.Close = func() { _ = listener.Close() }
	if s.config.TLS != nil {
		listener = s.secure(listener)
	}
	if status, ok := webServers[s.config.Speaks]; ok {
		protocols := new(http.Protocols)
		protocols.SetHTTP1(s.config.Speaks == "http1")
		protocols.SetHTTP2(s.config.Speaks != "http1")
		protocols.SetUnencryptedHTTP2(s.config.Speaks != "http1")
		handler := http.HandlerFunc(func(w http.ResponseWriter,
			r *http.Request,
		) {
			if s.config.Speaks == echoes {
				w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
				_, _ = io.Copy(w, r.Body)
				return
			}
			http.Error(w, "no such page", status)
		})
		server := http.Server{Handler: handler, Protocols: protocols, ErrorLog: log.New(io.Discard, "", 0)}
		go func() { _ = server.Serve(listener) }()
		return nil
	}
	speak := rawProtocols[s.config.Speaks]
	if odd := oddServers[s.config.Speaks]; odd != nil {
		var connections atomic.Int64
		speak = func(c net.Conn) { speakOddly(c, odd, int(connections.Add(1))-1) }
	}
	if speak == nil {
		return fmt.Errorf("unknown protocol %q", s.config.Speaks)
	}
	go s.accept(listener, speak)
	return nil
}

func (s *Server) accept(listener net.Listener, speak func(net.Conn)) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		select {
		case s.Connected <- struct{}{}:
		default:
		}
		go func() {
			speak(conn)
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
		}()
	}
}

// ignoreQuestions makes the server a name server that does not answer.
func (s *Server) ignoreQuestions() error {
	socket, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.Addr, s.Close = socket.LocalAddr().String(), func() { _ = socket.Close() }
	return nil
}

// bind makes the server a port without a listener, so connections are refused.
func (s *Server) bind() error {
	port, release, err := reserve(0)
	if err != nil {
		return err
	}
	s.Addr, s.Close = fmt.Sprintf("127.0.0.1:%d", port), release
	return nil
}
