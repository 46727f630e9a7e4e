package grpcgo

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

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
	attempt *attempt
	options *probe.Options
	release func()
}

// Settle implements probe.Conn. It has nothing to do, since Dial has waited for the SETTINGS frame.
func (c *conn) Settle() error { return nil }

// Check implements probe.Conn.
func (c *conn) Check(services []string) []probe.Answer {
	ctx, cancel := c.begin(c.options.Budget.Call())
	defer cancel()
	answers := make([]probe.Answer, len(services))
	var calls sync.WaitGroup
	for i, service := range services {
		calls.Go(func() { answers[i] = c.check(expectTrailers(ctx), service) })
	}
	calls.Wait()
	return answers
}

func (c *conn) check(ctx context.Context, service string) probe.Answer {
	response, err := c.health().Check(ctx, &healthpb.HealthCheckRequest{Service: service})
	return probe.Answer{Service: service, Status: probe.Status(response.GetStatus()), Err: c.rpcError(ctx, err)}
}

// List implements probe.Conn.
func (c *conn) List() (map[string]probe.Status, error) {
	ctx, cancel := c.begin(c.options.Budget.Call())
	defer cancel()
	ctx = expectTrailers(ctx)
	response, err := c.health().List(ctx, &healthpb.HealthListRequest{})
	if err != nil {
		return nil, c.rpcError(ctx, err)
	}
	statuses := map[string]probe.Status{}
	for service, answer := range response.GetStatuses() {
		statuses[service] = probe.Status(answer.GetStatus())
	}
	return statuses, nil
}

// Watch implements probe.Conn.
func (c *conn) Watch(service string, receive func(probe.Status)) error {
	ctx, cancel := c.begin(c.options.Budget.End())
	defer cancel()
	ctx = expectTrailers(ctx)
	stream, err := c.health().Watch(ctx, &healthpb.HealthCheckRequest{Service: service})
	for err == nil {
		var response *healthpb.HealthCheckResponse
		if response, err = stream.Recv(); err == nil {
			receive(probe.Status(response.GetStatus()))
		}
	}
	return c.rpcError(ctx, err)
}

// Close implements probe.Conn.
func (c *conn) Close() error {
	c.release()
	return c.client.Close()
}

func (c *conn) health() healthpb.HealthClient { return healthpb.NewHealthClient(c.client) }

// begin returns a context for calls, with their headers and their deadline. A deadline of zero means none.
func (c *conn) begin(deadline time.Time) (context.Context, context.CancelFunc) {
	var pairs []string
	for _, header := range c.options.Headers {
		pairs = append(pairs, header.Name, header.Value)
	}
	ctx := metadata.AppendToOutgoingContext(context.Background(), pairs...)
	if deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline)
}

// rpcError turns the error of a call, which was made with ctx, into a *probe.RPCError. io.EOF means that the server has
// ended the stream with the status OK, which is no success for Watch.
func (c *conn) rpcError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF):
		return &probe.RPCError{Code: probe.Code(codes.Unavailable), Message: "server ended the watch", Answered: true}
	}
	s := status.Convert(err)
	failed := &probe.RPCError{
		Code: probe.Code(s.Code()), Message: s.Message(),
		Answered: hasTrailers(ctx) && c.attempt.hasSent(s.Code()),
	}
	if !failed.Answered && s.Code() == codes.Unavailable && !strings.Contains(s.Message(), "HTTP status") {
		failed.Message = c.attempt.reason(failed.Message)
	}
	return failed
}

func callOptions(o *probe.Options) []grpc.CallOption {
	options := []grpc.CallOption{grpc.MaxCallRecvMsgSize(probe.MaxMessage)}
	if o.GZIP {
		options = append(options, grpc.UseCompressor(gzip.Name))
	}
	return options
}
