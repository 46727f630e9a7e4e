package bridge

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// slowServer is a gRPC server whose calls wait. A stopped one can be started again at the same address.
type slowServer struct {
	addr string
	wait func(ctx context.Context, service string)
	// asked is how many calls there were.
	asked  atomic.Int64
	server *grpc.Server
	done   chan struct{}
}

func (s *slowServer) start(t *testing.T) {
	t.Helper()
	if s.addr == "" {
		s.addr = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	s.addr, s.done = listener.Addr().String(), make(chan struct{})
	server := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, request any, _ *grpc.UnaryServerInfo,
		next grpc.UnaryHandler,
	) (any, error) {
		s.asked.Add(1)
		if s.wait != nil {
			s.wait(ctx, request.(*healthpb.HealthCheckRequest).GetService())
		}
		if err := ctx.Err(); err != nil { // an answer might still be in time
			return nil, status.FromContextError(err).Err()
		}
		return next(ctx, request)
	}))
	healthpb.RegisterHealthServer(server, health.NewServer())
	s.server = server
	go func(done chan struct{}) {
		defer close(done)
		if err := server.Serve(listener); err != nil {
			t.Errorf("serving: %v", err)
		}
	}(s.done)
}

func (s *slowServer) stop() {
	s.server.Stop()
	<-s.done
}

// Whoever asks while the server answers somebody else gets an answer to a question of his own, which he may share with
// others who wait as he does.
func TestQuestionsOfTheSameMomentShareAnAnswer(t *testing.T) {
	t.Parallel()
	const callers = 30
	began, proceed := make(chan struct{}, 10), make(chan struct{})
	server := &slowServer{wait: func(context.Context, string) { began <- struct{}{}; <-proceed }}
	server.start(t)
	defer server.stop()
	addr, _ := startBridge(t, "-addr="+server.addr)
	var answered sync.WaitGroup
	ask := func() { says(t, client(t, addr), "", "SERVING") }
	answered.Go(ask)
	<-began
	for range callers {
		answered.Go(ask)
	}
	time.Sleep(500 * time.Millisecond) // so that all of them have asked, on a machine that is not too busy
	proceed <- struct{}{}
	<-began
	close(proceed)
	answered.Wait()
	if asked := server.asked.Load(); asked < 2 || asked > callers/2 {
		t.Errorf("the server was asked %d times for 1 and %d callers", asked, callers)
	}
}

func TestDeadlineOfTheCallerCounts(t *testing.T) {
	t.Parallel()
	server := &slowServer{wait: func(ctx context.Context, _ string) { <-ctx.Done() }}
	server.start(t)
	defer server.stop()
	addr, _ := startBridge(t, "-addr="+server.addr, "-rpc-timeout=2s")
	asked := client(t, addr)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := asked.Check(ctx, &healthpb.HealthCheckRequest{})
	if took := time.Since(begin); status.Code(err) != codes.DeadlineExceeded || took > 2*time.Second {
		t.Errorf("after %v it is %v", took, err)
	}
	says(t, asked, "", "NOT_SERVING") // after the bridge's own timeout
}

// A service that never answers does not hold up the others, although all are asked on one connection.
func TestHungServiceHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	server := &slowServer{wait: func(ctx context.Context, service string) {
		if service == "hung" {
			<-ctx.Done()
		}
	}}
	server.start(t)
	defer server.stop()
	addr, _ := startBridge(t, "-addr="+server.addr, "-rpc-timeout=1m")
	asked, hung := client(t, addr), client(t, addr)
	says(t, asked, "", "SERVING")
	for range 2 * maxForeignOfOne {
		go func() { _, _ = hung.Check(t.Context(), &healthpb.HealthCheckRequest{Service: "hung"}) }()
	}
	finds(t, "the hung call", func() bool { return server.asked.Load() >= 2 })
	for range 20 {
		says(t, asked, "", "SERVING")
	}
}

// A connection that is lost, however often, is made anew for the next question, without a wrong answer in between.
func TestLostConnectionIsMadeAnew(t *testing.T) {
	t.Parallel()
	server := &slowServer{}
	server.start(t)
	addr, _ := startBridge(t, "-addr="+server.addr)
	asked := client(t, addr)
	for range 20 {
		says(t, asked, "", "SERVING")
		server.stop()
		server.start(t)
	}
	says(t, asked, "", "SERVING")
	server.stop()
	says(t, asked, "", "NOT_SERVING")
}
