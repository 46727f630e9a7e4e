package grpcgo

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc/stats"
)

// trailers is a stats.Handler. It tells the attempt of calls, and for each call it notes whether the server has ended
// the call with trailers, which carry the status (gRPC over HTTP/2, "Responses"). The code of an error does not tell
// that: grpc-go also returns UNAVAILABLE for a lost connection and UNIMPLEMENTED for an HTTP 404.
type trailers struct{ attempt *attempt }

type trailersKey struct{}

// expectTrailers returns the context for one call, which hasTrailers can be asked about later.
func expectTrailers(ctx context.Context) context.Context {
	return context.WithValue(ctx, trailersKey{}, new(atomic.Bool))
}

func hasTrailers(ctx context.Context) bool {
	came, ok := ctx.Value(trailersKey{}).(*atomic.Bool)
	return ok && came.Load()
}

// HandleRPC implements stats.Handler.
func (t trailers) HandleRPC(ctx context.Context, event stats.RPCStats) {
	switch event.(type) {
	case *stats.OutHeader:
		t.attempt.call()
		return
	case *stats.InTrailer:
	default:
		return
	}
	if came, ok := ctx.Value(trailersKey{}).(*atomic.Bool); ok {
		came.Store(true)
	}
}

// TagRPC implements stats.Handler.
func (trailers) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// TagConn implements stats.Handler.
func (trailers) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (trailers) HandleConn(context.Context, stats.ConnStats) {}
