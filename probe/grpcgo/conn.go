package grpcgo

import (
	"context"
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/grpc-cnb/health-probe/probe"
)

// conn implements probe.Conn.
type conn struct {
	client  *grpc.ClientConn
	options *probe.Options
	release func()
}

// Settle implements probe.Conn: Dial has waited for the SETTINGS frame.
func (c *conn) Settle(context.Context) error { return nil }

// Check implements probe.Conn.
func (c *conn) Check(ctx context.Context, services []string) []probe.Answer {
	answers := make([]probe.Answer, len(services))
	var calls sync.WaitGroup
	for i, service := range services {
		calls.Go(func() { answers[i] = c.check(ctx, service) })
	}
	calls.Wait()
	return answers
}

func (c *conn) check(ctx context.Context, service string) probe.Answer {
	ctx, cancel := context.WithTimeout(c.begin(ctx), c.options.RPCTimeout)
	defer cancel()
	response, err := c.health().Check(ctx, &healthpb.HealthCheckRequest{Service: service})
	return probe.Answer{Service: service, Status: probe.Status(response.GetStatus()), Err: rpcError(ctx, err)}
}

// List implements probe.Conn.
func (c *conn) List(ctx context.Context) (map[string]probe.Status, error) {
	ctx, cancel := context.WithTimeout(c.begin(ctx), c.options.RPCTimeout)
	defer cancel()
	response, err := c.health().List(ctx, &healthpb.HealthListRequest{})
	if err != nil {
		return nil, rpcError(ctx, err)
	}
	statuses := map[string]probe.Status{}
	for service, answer := range response.GetStatuses() {
		statuses[service] = probe.Status(answer.GetStatus())
	}
	return statuses, nil
}

// Watch implements probe.Conn.
func (c *conn) Watch(ctx context.Context, service string, receive func(probe.Status)) error {
	ctx, cancel := context.WithCancel(c.begin(ctx))
	defer cancel()
	stream, err := c.health().Watch(ctx, &healthpb.HealthCheckRequest{Service: service})
	for err == nil {
		var response *healthpb.HealthCheckResponse
		if response, err = stream.Recv(); err == nil {
			receive(probe.Status(response.GetStatus()))
		}
	}
	return rpcError(ctx, err)
}

// Close implements probe.Conn.
func (c *conn) Close() error {
	c.release()
	return c.client.Close()
}

func (c *conn) health() healthpb.HealthClient { return healthpb.NewHealthClient(c.client) }

// begin returns a context for one call.
func (c *conn) begin(ctx context.Context) context.Context {
	for _, header := range c.options.Headers {
		ctx = metadata.AppendToOutgoingContext(ctx, header.Name, header.Value)
	}
	return expectTrailers(ctx)
}

// rpcError turns the error of a call that was made with ctx into a
// *probe.RPCError. io.EOF is a stream that the server has ended with OK, which for
// Watch is no success.
func rpcError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF):
		return &probe.RPCError{Code: probe.Code(codes.Unavailable), Message: "server ended the watch", Answered: true}
	}
	s := status.Convert(err)
	return &probe.RPCError{Code: probe.Code(s.Code()), Message: s.Message(), Answered: hasTrailers(ctx)}
}

func callOptions(o *probe.Options) []grpc.CallOption {
	options := []grpc.CallOption{grpc.MaxCallRecvMsgSize(probe.MaxMessage)}
	if o.GZIP {
		options = append(options, grpc.UseCompressor(gzip.Name))
	}
	return options
}
