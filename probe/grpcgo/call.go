package grpcgo

import (
	"context"

	"google.golang.org/grpc/stats"
)

// call is what the attempt knows of a call; its mutex guards it.
type call struct {
	on    int  // the number of the connection, from 1, on which it is open; 0 for none
	ended bool // and will not be made again
	// trailers tells that the server has ended it with trailers, which carry the status (gRPC over HTTP/2,
	// "Responses"). The code of an error does not tell that: grpc-go also returns UNAVAILABLE for a lost connection
	// and UNIMPLEMENTED for an HTTP 404.
	trailers bool
}

type callKey struct{}

// expect announces a call, and returns the context for it. Calls that are to be made together are announced before the
// first of them is made.
func (a *attempt) expect(ctx context.Context) context.Context {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := &call{}
	a.calls = append(a.calls, c)
	return context.WithValue(ctx, callKey{}, c)
}

// update changes what is known of the call with that context.
func (a *attempt) update(ctx context.Context, change func(*call)) {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		a.mu.Lock()
		defer a.mu.Unlock()
		change(c)
		a.changed.Broadcast()
	}
}

// end tells that the call with that context will not be made again.
func (a *attempt) end(ctx context.Context) { a.update(ctx, func(c *call) { c.ended = true }) }

// hasTrailers reports whether the server has ended the call with that context.
func (a *attempt) hasTrailers(ctx context.Context) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, ok := ctx.Value(callKey{}).(*call)
	return ok && c.trailers
}

// events is a stats.Handler, by which the attempt follows its calls.
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
