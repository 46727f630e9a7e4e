package grpcgo

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc/stats"
)

// trailers is a stats.Handler that notes for each call whether the server has
// ended it with trailers, which is where the status is (gRPC over HTTP/2,
// "Responses"). The code of an error cannot tell: UNAVAILABLE and UNIMPLEMENTED
// are also what grpc-go makes of a lost connection and of an HTTP 404.
type trailers struct{}

type trailersKey struct{}

// expectTrailers returns a context for one call, for hasTrailers to look at.
func expectTrailers(ctx context.Context) context.Context {
	return context.WithValue(ctx, trailersKey{}, new(atomic.Bool))
}

func hasTrailers(ctx context.Context) bool {
	return ctx.Value(trailersKey{}).(*atomic.Bool).Load()
}

// HandleRPC implements stats.Handler.
func (trailers) HandleRPC(ctx context.Context, event stats.RPCStats) {
	if _, ok := event.(*stats.InTrailer); ok {
		ctx.Value(trailersKey{}).(*atomic.Bool).Store(true)
	}
}

// TagRPC implements stats.Handler.
func (trailers) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// TagConn implements stats.Handler.
func (trailers) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (trailers) HandleConn(context.Context, stats.ConnStats) {}
