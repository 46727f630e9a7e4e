package probetest

import (
	"context"

	"google.golang.org/grpc"
)

// interceptStream ends a stream when EndCalls is called.
func (s *Server) interceptStream(service any, stream grpc.ServerStream, _ *grpc.StreamServerInfo,
	next grpc.StreamHandler,
) error {
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	defer context.AfterFunc(s.calls, cancel)()
	return next(service, limited{stream, ctx})
}

// limited is a stream with a separate context.
type limited struct {
	grpc.ServerStream
	ctx context.Context
}

// Context implements grpc.ServerStream.
func (l limited) Context() context.Context { return l.ctx }
