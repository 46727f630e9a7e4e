package probetest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip" // servers that can decompress
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
)

// Config says what a server is like. The zero values of all but Network and
// Address make a plain gRPC server that is SERVING.
type Config struct {
	// Network and Address are where it listens, as for net.Listen.
	Network, Address string
	// TLS is its side of TLS; nil is plain text.
	TLS *tls.Config
	// Statuses are the answers by service.
	Statuses map[string]healthpb.HealthCheckResponse_ServingStatus
	// Header, as NAME:VALUE, is metadata each call must carry.
	Header string
	// Health is "none" for a server without the health service, and "hangs" for
	// one that never answers.
	Health string
	// Speaks makes it a server of another protocol: "bound", which does not even
	// accept, or a key of rawProtocols.
	Speaks string
}

// Server is a running server.
type Server struct {
	// Addr is its address, as -addr takes it.
	Addr string
	// Connected gets a value for the first connection to a server that is no
	// gRPC server.
	Connected chan struct{}
	// Close stops it.
	Close func()

	config Config
	mu     sync.Mutex
	seen   []string
}

// Start runs a server until its Close is called.
func Start(config Config) (*Server, error) {
	s := &Server{config: config, Connected: make(chan struct{}, 1)}
	if config.Speaks == "bound" {
		return s, s.bind()
	}
	listener, err := net.Listen(config.Network, config.Address)
	if err != nil {
		return nil, err
	}
	s.Addr = listener.Addr().String()
	if config.Network == "unix" {
		s.Addr = "unix:" + s.Addr
		if name, ok := strings.CutPrefix(s.Addr, "unix:@"); ok {
			s.Addr = "unix-abstract:" + name
		}
	}
	if config.Speaks != "" {
		return s, s.serveRaw(listener)
	}
	s.serveGRPC(listener)
	return s, nil
}

func (s *Server) serveGRPC(listener net.Listener) {
	options := []grpc.ServerOption{grpc.UnaryInterceptor(s.intercept), grpc.StatsHandler(s)}
	if s.config.TLS != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(s.config.TLS)))
	}
	server := grpc.NewServer(options...)
	if s.config.Health != "none" {
		service := health.NewServer()
		for name, status := range s.config.Statuses {
			service.SetServingStatus(name, status)
		}
		healthpb.RegisterHealthServer(server, service)
	}
	s.Close = server.Stop
	serve(server, listener)
}

// serve runs server until it is stopped.
func serve(server *grpc.Server, listener net.Listener) {
	go func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			panic(fmt.Sprintf("serving %v: %v", listener.Addr(), err))
		}
	}()
}

// intercept refuses or keeps waiting the calls that the config says so of.
func (s *Server) intercept(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if s.config.Health == "hangs" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if name, value, ok := strings.Cut(s.config.Header, ":"); ok && !slices.Contains(metadata.ValueFromIncomingContext(ctx, name), value) {
		return nil, status.Errorf(codes.Unauthenticated, "no valid %s\nin the call", name)
	}
	return next(ctx, request)
}

// Seen returns what came with the last call, sorted lines of name: value.
func (s *Server) Seen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.seen, "\n") + "\n"
}

// HandleRPC implements stats.Handler.
func (s *Server) HandleRPC(_ context.Context, event stats.RPCStats) {
	in, ok := event.(*stats.InHeader)
	if !ok {
		return
	}
	lines := []string{"compression: " + in.Compression}
	for name, values := range in.Header {
		for _, value := range values {
			lines = append(lines, name+": "+value)
		}
	}
	slices.Sort(lines)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = lines
}

// TagRPC implements stats.Handler.
func (s *Server) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// TagConn implements stats.Handler.
func (s *Server) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (s *Server) HandleConn(context.Context, stats.ConnStats) {}
