package probetest

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip" // for servers that can decompress
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
)

// Config describes a server. With zero values for everything but Network and Address, the server is a plain gRPC server
// that is SERVING.
type Config struct {
	// Network and Address are for net.Listen.
	Network, Address string
	// TLS is the server's side of TLS; nil is plain text.
	TLS *tls.Config
	// ALPN are the protocols negotiated by TLS: {"none"} for none and nil for h2.
	ALPN []string
	// Statuses are the answers, by service.
	Statuses map[string]healthpb.HealthCheckResponse_ServingStatus
	// Header, as NAME:VALUE, is metadata required in each call.
	Header string
	// Health is "none" for a server without the health service, or else the value of an option health=... of scripts.
	Health string
	// Hangups is the number of connections that the server closes first.
	Hangups int
	// Streams bounds the calls at once on a connection; 0 is grpc-go's default.
	Streams int
	// Window, if not 0, is the flow-control window for each request, in bytes. The server is then net/http.
	Window int
	// StrictKeepalive makes the server end connections with too many PINGs.
	StrictKeepalive bool
	// Speaks makes the server speak another protocol: "bound", which does not even accept, "silent-dns", a name server
	// without answers, or a key of webServers, rawProtocols or oddServers.
	Speaks string
}

// Server is a running server.
type Server struct {
	// Addr is the address, in the form of -addr.
	Addr string
	// Connected gets a value for the first connection to a server without gRPC.
	Connected chan struct{}
	// Answered gets a value for each message sent by a gRPC server.
	Answered chan struct{}
	// Health is the health service.
	Health *health.Server
	// EndCalls ends the calls of Watch in progress.
	EndCalls func()
	// Close stops the server.
	Close func()

	config Config
	calls  context.Context
	mu     sync.Mutex
	seen   []string
}

// Start runs a server until Close is called.
func Start(config Config) (*Server, error) {
	s := &Server{
		config: config, Connected: make(chan struct{}, 1), Answered: make(chan struct{}, maxAnswered),
		Health: health.NewServer(),
	}
	s.calls, s.EndCalls = context.WithCancel(context.Background())
	switch config.Speaks {
	case "silent-dns":
		return s, s.ignoreQuestions()
	case "bound":
		return s, s.bind()
	}
	listener, err := listen(config.Network, config.Address)
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

// serveGRPC serves calls on listener. If the config has another ALPN than grpc-go, TLS is a layer below grpc-go.
func (s *Server) serveGRPC(listener net.Listener) {
	listener = &hangupListener{Listener: listener, hangups: s.config.Hangups}
	if s.config.TLS != nil && s.config.ALPN != nil {
		listener = s.secure(listener)
	}
	server := grpc.NewServer(s.options()...)
	s.register(server)
	if s.config.Window > 0 {
		s.serveHTTP(listener, server)
		return
	}
	s.Close = server.Stop
	serve(server, listener)
}

func (s *Server) options() []grpc.ServerOption {
	options := []grpc.ServerOption{
		grpc.UnaryInterceptor(s.intercept), grpc.StreamInterceptor(s.interceptStream),
		grpc.StatsHandler(s),
	}
	if s.config.TLS != nil && s.config.ALPN == nil {
		options = append(options, grpc.Creds(credentials.NewTLS(s.config.TLS)))
	}
	if s.config.Streams > 0 {
		options = append(options, grpc.MaxConcurrentStreams(uint32(s.config.Streams)))
	}
	if s.config.StrictKeepalive {
		options = append(options, grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Hour}))
	}
	return options
}

// register gives server the health service of the config.
func (s *Server) register(server *grpc.Server) {
	for name, status := range s.config.Statuses {
		s.Health.SetServingStatus(name, status)
	}
	service := healthpb.Health_ServiceDesc
	switch s.config.Health {
	case "none":
		return
	case "nolist":
		service.Methods = slices.DeleteFunc(slices.Clone(service.Methods),
			func(m grpc.MethodDesc) bool { return m.MethodName == "List" })
	}
	server.RegisterService(&service, s.Health)
}

func serve(server *grpc.Server, listener net.Listener) {
	go func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			panic(fmt.Sprintf("serving %v: %v", listener.Addr(), err))
		}
	}()
}

// intercept refuses or delays calls as configured.
func (s *Server) intercept(ctx context.Context, request any, call *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any,
	error,
) {
	if s.config.Health == "hangs" || s.config.Health == "hanglist" && strings.HasSuffix(call.FullMethod, "/List") {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if s.config.Health == "limited" {
		return nil, status.Error(codes.ResourceExhausted, "too many calls")
	}
	if s.config.Health == "echoes" {
		return nil, echo(ctx)
	}
	if name, value, ok := strings.Cut(s.config.Header, ":"); ok &&
		!slices.Contains(metadata.ValueFromIncomingContext(ctx, name), value) {
		return nil, status.Errorf(codes.Unauthenticated, "no valid %s\nin the call", name)
	}
	return next(ctx, request)
}

// echo is an error with the metadata of a call, both plain and encoded.
func echo(ctx context.Context) error {
	var said []string
	md, _ := metadata.FromIncomingContext(ctx)
	for _, name := range []string{"authorization", "x-token"} {
		for _, value := range md.Get(name) {
			encoded := base64.StdEncoding.EncodeToString([]byte(name + "=" + value))
			said = append(said, name, value, url.QueryEscape(value), encoded, fmt.Sprintf("%q", value))
		}
	}
	return status.Errorf(codes.Unauthenticated, "rejected: %s.", strings.Join(said, " "))
}

// maxAnswered is the number of messages that a server can send before Answered is read.
const maxAnswered = 10_000

// Seen returns the compression, the method and the metadata of the last call, as sorted lines of name: value.
func (s *Server) Seen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.seen, "\n") + "\n"
}

// HandleRPC implements stats.Handler.
func (s *Server) HandleRPC(_ context.Context, event stats.RPCStats) {
	switch event := event.(type) {
	case *stats.InHeader:
		s.note(event)
	case *stats.OutPayload:
		select {
		case s.Answered <- struct{}{}:
		default:
		}
	}
}

func (s *Server) note(in *stats.InHeader) {
	lines := []string{"compression: " + in.Compression, "method: " + in.FullMethod}
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
