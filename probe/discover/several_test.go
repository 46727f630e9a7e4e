//go:build linux

package discover_test

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/lean"
	"github.com/grpc-cnb/health-probe/probe/probetest"
)

// One server that is down among many is found, and named.
func TestOneOfManyServersIsDown(t *testing.T) {
	const more = 40 // than are asked at the same time
	for range more {
		start(t, "")
	}
	if got := probe(t, lean.Transport{}, "-rpc-timeout=1m"); got.Code() != 0 {
		t.Fatalf("it ends with %d: %q", got.Code(), got.Lines())
	}
	down := start(t, "status=:NOT_SERVING")
	got := probe(t, lean.Transport{}, "-rpc-timeout=1m")
	if got.Code() != 4 || len(got.Failures) != 1 || !strings.Contains(got.Failures.Error(), "server at "+down.Addr) {
		t.Errorf("it ends with %d: %q, want the failure of %s", got.Code(), got.Lines(), down.Addr)
	}
}

// A server that knows one of the services that are asked for counts.
func TestServicesOfSeveralServers(t *testing.T) {
	start(t, "status=:SERVING status=a:SERVING status=b:SERVING")
	half := start(t, "status=:SERVING status=b:NOT_SERVING")
	for _, services := range []string{"a,b", "b,a"} {
		got := probe(t, lean.Transport{}, "-service="+services)
		if got.Code() == 0 || !strings.Contains(strings.Join(got.Lines(), "\n"), half.Addr) {
			t.Errorf("-service=%s ends with %d: %q, want a failure of %s", services, got.Code(), got.Lines(), half.Addr)
		}
	}
	start(t, "") // knows neither
	if got := probe(t, lean.Transport{}, "-service=a"); got.Code() != 0 {
		t.Errorf("-service=a ends with %d: %q", got.Code(), got.Lines())
	}
}

// A watch of several servers would not end, so it does not begin.
func TestWatchOfSeveralServersWithoutAnEnd(t *testing.T) {
	start(t, "")
	start(t, "")
	for name, transport := range transports {
		o, err := commandLine(t, "-watch").Options(check.LookUpPort)
		if err != nil {
			t.Fatal(err)
		}
		p := check.Prober{Transport: transport, Options: o, Change: func(a outcome.Answer) {
			t.Errorf("%s says %v", name, a)
		}}
		if got := p.Run(); got.Code() != 1 || !strings.Contains(got.Failures.Error(), "several servers") {
			t.Errorf("%s ends with %d: %q", name, got.Code(), got.Lines())
		}
	}
}

// With -wait the server may begin to listen later, wherever that is.
func TestServerThatListensLater(t *testing.T) {
	start(t, "speaks=http1")
	waiting := make(chan struct{})
	failed := sync.OnceFunc(func() { close(waiting) })
	o, err := commandLine(t, "-wait=10m").Options(check.LookUpPort)
	if err != nil {
		t.Fatal(err)
	}
	p := check.Prober{Transport: lean.Transport{}, Options: o, Note: func(line string) {
		if strings.HasPrefix(line, "attempt 1: ") {
			failed()
		}
	}}
	ended := make(chan *outcome.Outcome)
	go func() { ended <- p.Run() }()
	<-waiting
	server := start(t, "")
	if got := <-ended; got.Code() != 0 || got.Address != server.Addr {
		t.Errorf("it ends with %d at %s: %q", got.Code(), got.Address, got.Lines())
	}
}

// What flags say of TLS holds for a server that was found: its certificate is verified.
func TestFlagsOfTLSHold(t *testing.T) {
	folder := t.TempDir()
	server, err := probetest.StartWith("server", folder, tlsServer)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	other := t.TempDir()
	stranger, err := probetest.StartWith("other", other, "san=example.com")
	if err != nil {
		t.Fatal(err)
	}
	stranger.Close()
	for ca, code := range map[string]outcome.ExitCode{folder: 0, other: 2} {
		got := probe(t, lean.Transport{}, "-tls -tls-ca-cert="+filepath.Join(ca, "ca.pem"))
		if got.Code() != code {
			t.Errorf("with %s it ends with %d, want %d: %q", ca, got.Code(), code, got.Lines())
		}
	}
}

// A server that ends gracefully takes no new connections: nothing is found of it.
func TestServerThatEndsGracefully(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	healthpb.RegisterHealthServer(server, health.NewServer())
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	watch, err := healthpb.NewHealthClient(conn).Watch(context.Background(), &healthpb.HealthCheckRequest{})
	if err == nil {
		_, err = watch.Recv()
	}
	if err != nil {
		t.Fatal(err)
	}
	go server.GracefulStop()
	for {
		again, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			break // it does not listen any more
		}
		again.Close()
	}
	if got := probe(t, lean.Transport{}, ""); got.Code() != 2 || !strings.Contains(got.Failures.Error(), nothing) {
		t.Errorf("it ends with %d: %q", got.Code(), got.Lines())
	}
}

// A probe with a low limit of open files asks as many sockets as the limit allows, and names the others.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	c := newPod(t).start(traits{})
	c.launch(Process{Program: "listen", Args: []string{"100"}})
	r := c.run(Process{Program: "limited", Args: append([]string{"40", "probe"}, probeIn(0, "-v").Args...)})
	r.want(t, 2, ": "+string(outcome.NotAsked))
}

// Hundreds of silent sockets keep no probe from its server.
func TestThousandSilentSockets(t *testing.T) {
	t.Parallel()
	c := newPod(t).start(traits{})
	c.launch(Process{Program: "listen", Args: []string{"1000"}})
	server := c.launch(serving(0))
	c.run(probeIn(0)).want(t, 0, server.said)
}
