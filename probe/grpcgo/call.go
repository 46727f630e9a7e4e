package grpcgo

import (
	"context"

	"google.golang.org/grpc/stats"
)

// call is the attempt's knowledge about a call, guarded by the attempt's mutex.
type call struct {
	on    int  // number of the call's connection, from 1; 0 for none
	ended bool // and will not be made again
	// trailers means that the server has ended the call with trailers, which carry the status (gRPC over HTTP/2,
	// "Responses"). The code of an error is no proof of trailers: grpc-go also returns UNAVAILABLE for a lost
	// connection and UNIMPLEMENTED for an HTTP 404.
	trailers bool
}

type callKey struct{}

// expect announces a call, and returns the context for the call. Calls to make together are announced before the first
// call is made.
func (a *attempt) expect(ctx context.Context) context.Context {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := &call{}
	a.calls = append(a.calls, c)
	return context.WithValue(ctx, callKey{}, c)
}

func (a *attempt) update(ctx context.Context, change func(*call)) {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		a.mu.Lock()
		defer a.mu.Unlock()
		change(c)
		a.changed.Broadcast()
	}
}

// end notes that the call of a context will not be made again.
func (a *attempt) end(ctx context.Context) { a.update(ctx, func(c *call) { c.ended = true }) }

// hasTrailers reports whether the server has ended the call of a context with trailers.
func (a *attempt) hasTrailers(ctx context.Context) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, ok := ctx.Value(callKey{}).(*call)
	return ok && c.trailers
}

// events is a stats.Handler for the calls of an attempt.
type events struct{ attempt *attempt }

// HandleRPC implements stats.Handler.
func (e events) HandleRPC(ctx context.Context, event stats.RPCStats) {
	switch event.(type) {
	case *stats.OutHeader:
		e.attempt.update(ctx, func(c *call) { c.on = e.attempt.dials })
	case *stats.InTrailer:
		e.attempt.update(ctx, func(c *call) { c.trailers = true })
	case *stats.End:
		e.attempt.update(ctx, func(c *call) { c.on = 0 })
	}
}

// TagRPC implements stats.Handler.
func (events) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// TagConn implements stats.Handler.
func (events) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (events) HandleConn(context.Context, stats.ConnStats) {}
