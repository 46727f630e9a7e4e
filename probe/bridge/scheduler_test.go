package bridge

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/grpc-cnb/health-probe/probe/bridge/bridgeflags"
	"github.com/grpc-cnb/health-probe/probe/bridge/linelog"
	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/lean"
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
	const callers = 4 * maxRoundsOfQuestion
	began, proceed := make(chan struct{}, callers), make(chan struct{})
	server := &slowServer{wait: func(context.Context, string) { began <- struct{}{}; <-proceed }}
	server.start(t)
	defer server.stop()
	f, _, err := bridgeflags.Read([]string{"-addr=" + server.addr, "-rpc-timeout=10m"}, check.LookUpPort, false)
	if err != nil {
		t.Fatal(err)
	}
	var upstream lean.Kept
	defer upstream.Close()
	s := newScheduler(newTarget(f), &upstream, linelog.New(io.Discard, ""))
	var streams [1 + callers]stream
	for i := range streams {
		tcp, other := net.Pipe() // nobody writes to it
		t.Cleanup(func() { _ = errors.Join(tcp.Close(), other.Close()) })
		streams[i].conn = &conn{tcp: tcp}
		if s.join(&streams[i], question{kind: ready}); i == 0 {
			<-began
		}
	}
	close(proceed)
	for i := range streams {
		var answer *round
		finds(t, "an answer", func() bool { answer = s.endedRound(&streams[i]); return answer != nil })
		if !answer.outcome.Passes() {
			t.Errorf("the answer to caller %d is %v", i, answer.outcome)
		}
	}
	if asked := server.asked.Load(); asked < 2 || asked > maxRoundsOfQuestion+1 {
		t.Errorf("the server was asked %d times for 1 and %d callers", asked, callers)
	}
}

// A caller who waits no longer is told so, however long the bridge would wait for the server.
func TestDeadlineOfTheCallerCounts(t *testing.T) {
	t.Parallel()
	server := &slowServer{wait: func(ctx context.Context, _ string) { <-ctx.Done() }}
	server.start(t)
	defer server.stop()
	addr, _ := startBridge(t, "-addr="+server.addr, "-rpc-timeout=10m")
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(hangs))
	_, _ = conn.Write(framed(func(f *http2.Framer) { // it fails if reading does
		begin(f, 1, headers(checkPath, "grpc-timeout", "200m"))
		_ = f.WriteData(1, true, message("")) // a buffer takes everything
	}))
	framer := http2.NewFramer(io.Discard, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if h, ok := frame.(*http2.MetaHeadersFrame); ok {
			want := hpack.HeaderField{Name: "grpc-status", Value: strconv.Itoa(int(codes.DeadlineExceeded))}
			if !slices.Contains(h.Fields, want) {
				t.Errorf("the answer is %v", h.Fields)
			}
			return
		}
	}
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
	for range 2 * maxForeignOfCaller {
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
