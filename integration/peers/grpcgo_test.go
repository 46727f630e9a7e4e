package peers

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip" // so that the servers can decompress
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// healthServer is grpc-go's, with a service that never answers and one that answers at length.
type healthServer struct{ *health.Server }

// Check implements healthpb.HealthServer.
func (s healthServer) Check(
	ctx context.Context, request *healthpb.HealthCheckRequest,
) (*healthpb.HealthCheckResponse, error) {
	switch request.Service {
	case "slow":
		<-ctx.Done()
		return nil, status.FromContextError(ctx.Err()).Err()
	case "long":
		return nil, status.Error(codes.ResourceExhausted, strings.Repeat("ä\n", 1000))
	}
	return s.Server.Check(ctx, request)
}

func newHealth() healthServer {
	server := health.NewServer()
	server.SetServingStatus("down", healthpb.HealthCheckResponse_NOT_SERVING)
	return healthServer{server}
}

// newGRPC makes a server with the health service.
func newGRPC(options ...grpc.ServerOption) *grpc.Server {
	server := grpc.NewServer(options...)
	healthpb.RegisterHealthServer(server, newHealth())
	return server
}

// newMany makes a server of 99 services, with names of that many bytes. grpc-go lists a hundred at most.
func newMany(bytes int) *grpc.Server {
	server, services := grpc.NewServer(), health.NewServer()
	for i := range 99 {
		services.SetServingStatus(fmt.Sprintf("%0*d", bytes, i), healthpb.HealthCheckResponse_SERVING)
	}
	healthpb.RegisterHealthServer(server, services)
	return server
}

// startGRPCGo runs grpc-go in its configurations.
func startGRPCGo(t *testing.T) map[string]string {
	addresses := map[string]string{}
	for name, server := range map[string]*grpc.Server{
		"plain":     newGRPC(),
		"tls":       newGRPC(withTLS(t, false)),
		"mtls":      newGRPC(withTLS(t, true)),
		"bare":      grpc.NewServer(),
		"guarded":   newGRPC(grpc.UnaryInterceptor(needsToken)),
		"single":    newGRPC(grpc.MaxConcurrentStreams(1)),
		"keepalive": newGRPC(grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Hour})),
		"leaving":   newGRPC(grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: time.Millisecond})),
		"headers":   newGRPC(grpc.MaxHeaderListSize(512)),
		"messages":  newGRPC(grpc.MaxRecvMsgSize(4)),
		"many":      newMany(600),
		"toomuch":   newMany(700),
		"tight": newGRPC(grpc.MaxConcurrentStreams(1), grpc.HeaderTableSize(0),
			grpc.StaticStreamWindowSize(64<<10)),
	} {
		listener := listen(t)
		addresses[name] = listener.Addr().String()
		serve(t, server, listener)
	}
	addresses["unix"] = startUnix(t)
	return addresses
}

func startUnix(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "grpc.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, newGRPC(), listener)
	return "unix:" + path
}

// serve runs server until the end of the test.
func serve(t *testing.T, server *grpc.Server, listener net.Listener) {
	over := make(chan error, 1)
	go func() { over <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-over; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
}

func withTLS(t *testing.T, mutual bool) grpc.ServerOption {
	return grpc.Creds(credentials.NewTLS(serverTLS(t, mutual)))
}

// needsToken refuses calls without a token.
func needsToken(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if token := metadata.ValueFromIncomingContext(ctx, "token"); len(token) != 1 || token[0] != "sesame" {
		return nil, status.Error(codes.Unauthenticated, "no token")
	}
	return next(ctx, request)
}
