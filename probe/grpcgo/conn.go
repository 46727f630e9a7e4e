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

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// conn implements check.Conn.
type conn struct {
	client  *grpc.ClientConn
	attempt *attempt
	options *options.Options
	release func()
}

// Settle implements check.Conn. Nothing is left to do, since Dial has waited for the SETTINGS frame.
func (c *conn) Settle() error { return nil }

// Check implements check.Conn.
func (c *conn) Check(services []string) []outcome.Answer {
	ctx, cancel := c.begin(c.options.Budget.Call())
	defer cancel()
	answers := make([]outcome.Answer, len(services))
	checks := make([]func(), len(services))
	for i, service := range services {
		expected := c.attempt.expect(ctx)
		checks[i] = func() { answers[i] = c.check(expected, service) }
	}
	var calls sync.WaitGroup
	for _, check := range checks {
		calls.Go(check)
	}
	calls.Wait()
	return answers
}

func (c *conn) check(ctx context.Context, service string) outcome.Answer {
	defer c.attempt.end(ctx)
	response, err := c.health().Check(ctx, &healthpb.HealthCheckRequest{Service: service})
	if c.isLost(ctx, err) {
		response, err = c.health().Check(ctx, &healthpb.HealthCheckRequest{Service: service})
	}
	return outcome.Answer{Service: service, Status: outcome.Status(response.GetStatus()), Err: c.rpcError(ctx, err)}
}

// isLost reports whether a call was lost with the connection, and may be made once more on another connection: health
// checks change nothing.
func (c *conn) isLost(ctx context.Context, err error) bool {
	return (status.Code(err) == codes.Unavailable || c.isUnsent(ctx, err)) && c.attempt.isLost()
}

// isUnsent reports whether a call has ended while the request was being sent. grpc-go then returns io.EOF, which also
// ends a stream with the status OK.
func (c *conn) isUnsent(ctx context.Context, err error) bool {
	return errors.Is(err, io.EOF) && !c.attempt.hasTrailers(ctx)
}

// List implements check.Conn.
func (c *conn) List() (map[string]outcome.Status, error) {
	ctx, cancel := c.begin(c.options.Budget.Call())
	defer cancel()
	ctx = c.attempt.expect(ctx)
	response, err := c.health().List(ctx, &healthpb.HealthListRequest{})
	if c.isLost(ctx, err) {
		response, err = c.health().List(ctx, &healthpb.HealthListRequest{})
	}
	if err != nil {
		return nil, c.rpcError(ctx, err)
	}
	statuses := map[string]outcome.Status{}
	for service, answer := range response.GetStatuses() {
		statuses[service] = outcome.Status(answer.GetStatus())
	}
	return statuses, nil
}

// Watch implements check.Conn.
func (c *conn) Watch(service string, receive func(outcome.Status)) error {
	ctx, cancel := c.begin(c.options.Budget.End())
	defer cancel()
	ctx = c.attempt.expect(ctx)
	stream, err := c.health().Watch(ctx, &healthpb.HealthCheckRequest{Service: service})
	for err == nil {
		var response *healthpb.HealthCheckResponse
		if response, err = stream.Recv(); err == nil {
			receive(outcome.Status(response.GetStatus()))
		}
	}
	return c.rpcError(ctx, err)
}

// Close implements check.Conn.
func (c *conn) Close() error {
	c.release()
	return c.client.Close()
}

func (c *conn) health() healthpb.HealthClient { return healthpb.NewHealthClient(c.client) }

// begin returns a context for calls, with the headers and the deadline. A deadline of zero means none.
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

// rpcError turns the error of a call, made with ctx, into a *outcome.RPCError. io.EOF means that the server has ended
// the stream with the status OK, which is no success for Watch.
func (c *conn) rpcError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case c.isUnsent(ctx, err):
		err = status.Error(codes.Unavailable, check.HangupReason)
	case errors.Is(err, io.EOF):
		return &outcome.RPCError{
			Code: outcome.Code(codes.Unavailable), Message: "server ended the watch", Answered: true,
		}
	}
	s := status.Convert(err)
	failed := &outcome.RPCError{
		Code: outcome.Code(s.Code()), Message: s.Message(),
		Answered: c.attempt.hasTrailers(ctx) && c.attempt.hasSent(s.Code()),
	}
	if !failed.Answered && s.Code() == codes.Unavailable && !strings.Contains(s.Message(), "HTTP status") {
		failed.Message = c.attempt.reason(failed.Message)
	}
	return failed
}

func callOptions(o *options.Options) []grpc.CallOption {
	options := []grpc.CallOption{grpc.MaxCallRecvMsgSize(check.MaxMessage)}
	if o.GZIP {
		options = append(options, grpc.UseCompressor(gzip.Name))
	}
	return options
}
