package probetest

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"syscall"
)

// rawProtocols are what servers speak that are no gRPC servers. Each gets a
// connection that is closed after it has returned and the peer has hung up.
var rawProtocols = map[string]func(net.Conn){
	"silence": func(net.Conn) {},
	"smtp":    func(c net.Conn) { _, _ = io.WriteString(c, "220 mail.example ready\r\n") },
	// A fatal alert, unexpected_message, in a record of TLS 1.2 (RFC 5246
	// sections 6.2.1 and 7.2): what OpenSSL answers to plain text.
	"tls-alert": func(c net.Conn) { _, _ = c.Write([]byte{21, 3, 3, 0, 2, 2, 10}) },
	"hangup":    func(c net.Conn) { _ = c.Close() },
}

// webServers answer every request with an HTTP status, by protocol.
var webServers = map[string]int{
	"http1":     http.StatusNotFound,
	"http2":     http.StatusNotFound,
	"http2-200": http.StatusOK,
	"http2-400": http.StatusBadRequest,
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
		handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such page", status) })
		server := http.Server{Handler: handler, Protocols: protocols, ErrorLog: log.New(io.Discard, "", 0)}
		go func() { _ = server.Serve(listener) }()
		return nil
	}
	speak := rawProtocols[s.config.Speaks]
	if speak == nil {
		return fmt.Errorf("unknown protocol %q", s.config.Speaks)
	}
	go s.accept(listener, speak)
	return nil
}

// accept serves connections until the listener is closed.
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

// ignoreQuestions is a name server that does not answer.
func (s *Server) ignoreQuestions() error {
	socket, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.Addr, s.Close = socket.LocalAddr().String(), func() { _ = socket.Close() }
	return nil
}

// bind takes a port without listening on it: nobody else gets it, and
// connections to it are refused.
func (s *Server) bind() error {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	s.Close = func() { _ = syscall.Close(socket) }
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	address, err := syscall.Getsockname(socket)
	if err != nil {
		return err
	}
	s.Addr = fmt.Sprintf("127.0.0.1:%d", address.(*syscall.SockaddrInet4).Port)
	return nil
}
