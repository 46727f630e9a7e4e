package lean_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/stats"

	"github.com/grpc-cnb/health-probe/probe/lean"
)

// connections counts the connections of a gRPC server.
type connections struct {
	stats.Handler
	open, all atomic.Int64
}

func (c *connections) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

func (c *connections) HandleConn(_ context.Context, event stats.ConnStats) {
	switch event.(type) {
	case *stats.ConnBegin:
		c.open.Add(1)
		c.all.Add(1)
	case *stats.ConnEnd:
		c.open.Add(-1)
	}
}

func (c *connections) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

func (c *connections) HandleRPC(context.Context, stats.RPCStats) {}

// serveHealth starts a gRPC server that is SERVING and returns its address.
func serveHealth(t *testing.T, options ...grpc.ServerOption) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(options...)
	healthpb.RegisterHealthServer(server, health.NewServer())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(listener); err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	t.Cleanup(func() { server.Stop(); serving.Wait() })
	return listener.Addr().String()
}

// probeCommand returns a run of the probe with long timeouts.
func probeCommand(t *testing.T, addr string) *exec.Cmd {
	t.Helper()
	path, err := program("grpc_health_probe")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "-addr="+addr, "-connect-timeout=1m", "-rpc-timeout=1m")
	cmd.Env = []string{}
	return cmd
}

// held returns how many files and goroutines this process has, in which the server runs.
func held(t *testing.T) (files, goroutines int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries), runtime.NumGoroutine()
}

// The server in a pod is probed as long as it runs. This test does not run in parallel, because it counts what the
// whole process holds.
func TestProbesInARowLeakNothing(t *testing.T) {
	const probes = 2_000
	var served connections
	addr := serveHealth(t, grpc.StatsHandler(&served))
	inARow(t, addr, 10)
	files, goroutines := settle(t, &served, 1<<30, 1<<30)
	inARow(t, addr, probes)
	settle(t, &served, files, goroutines)
	if got := served.all.Load(); got != probes+10 {
		t.Errorf("%d connections for %d probes", got, probes+10)
	}
}

func inARow(t *testing.T, addr string, probes int) {
	t.Helper()
	for i := range probes {
		if out, err := probeCommand(t, addr).CombinedOutput(); err != nil {
			t.Fatalf("probe %d: %v\n%s", i, err, out)
		}
	}
}

// settle waits until the server has no connection any more, and the process holds no more than it may.
func settle(t *testing.T, served *connections, maxFiles, maxGoroutines int) (files, goroutines int) {
	t.Helper()
	giveUp := time.After(hangs)
	for tick := time.Tick(time.Millisecond); ; {
		files, goroutines = held(t)
		if open := served.open.Load(); open == 0 && files <= maxFiles && goroutines <= maxGoroutines {
			return files, goroutines
		}
		select {
		case <-tick:
		case <-giveUp:
			t.Fatalf("%d connections are open, %d files (at most %d before), %d goroutines (at most %d before)",
				served.open.Load(), files, maxFiles, goroutines, maxGoroutines)
		}
	}
}

// The server answers no call before it has all of them.
func TestProbesAtOnceAllSucceed(t *testing.T) {
	const probes = 200
	var asked atomic.Int64
	allAsked := make(chan struct{})
	addr := serveHealth(t,
		grpc.UnaryInterceptor(func(ctx context.Context, request any, _ *grpc.UnaryServerInfo,
			next grpc.UnaryHandler,
		) (any, error) {
			if asked.Add(1) == probes {
				close(allAsked)
			}
			select {
			case <-allAsked:
				return next(ctx, request)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}))
	var running sync.WaitGroup
	for range probes {
		running.Go(func() {
			if out, err := probeCommand(t, addr).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	running.Wait()
}

// With -wait, and in the bridge, a server that is down is tried again and again. This test does not run in parallel,
// because it counts what the whole process holds.
func TestConnectionsThatFailLeakNothing(t *testing.T) {
	o := optionsOf(t, "-addr=unix:"+t.TempDir()+"/none.sock")
	const tries = 200
	files, _ := held(t)
	for range tries {
		if conn, err := (lean.Transport{}).Dial(o); err == nil {
			_ = conn.Close()
			t.Fatal("a connection to a socket that does not exist succeeds")
		}
	}
	if after, _ := held(t); after >= files+tries/2 {
		t.Errorf("the process had %d files, and has %d after %d connections that failed", files, after, tries)
	}
}
