package grpcgo_test

import (
	"io"
	"net"
	"testing"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/grpcgo"
)

// lossy is a listener that loses its first connection once a request has come.
type lossy struct {
	net.Listener
	lost bool
}

func (l *lossy) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if l.lost || err != nil {
		return conn, err
	}
	l.lost = true
	lose(conn)
	return l.Listener.Accept()
}

// lose answers with SETTINGS, and hangs up once a request has come.
func lose(conn net.Conn) {
	defer conn.Close()
	framer := http2.NewFramer(conn, conn)
	_ = framer.WriteSettings() // if the client has gone, the next connection says so
	_, _ = io.CopyN(io.Discard, conn, int64(len(http2.ClientPreface)))
	for {
		frame, err := framer.ReadFrame()
		if data, ok := frame.(*http2.DataFrame); err != nil || ok && data.StreamEnded() {
			return
		}
	}
}

// A call whose connection is lost without a word is made once more on another connection.
func TestCallIsMadeAgain(t *testing.T) {
	t.Parallel()
	for _, all := range []bool{false, true} {
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		server := grpc.NewServer()
		healthpb.RegisterHealthServer(server, health.NewServer())
		go server.Serve(&lossy{Listener: listener})
		defer server.Stop()
		o := options.New()
		o.Services, o.All, o.Addr = []string{""}, all, listener.Addr().String()
		if o.Address, err = address.Parse(o.Addr, address.AnyPort); err != nil {
			t.Fatal(err)
		}
		p := check.Prober{Transport: grpcgo.Transport{}, Options: &o}
		if ended := p.Run(); !ended.Passes() {
			t.Errorf("with -all %t: %v", all, ended.Failures)
		}
	}
}
