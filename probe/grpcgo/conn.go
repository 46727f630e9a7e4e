package grpcgo

import (
	"context"

	"google.golang.org/grpc"
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

// Check implements probe.Conn.
func (c *conn) Check(ctx context.Context, service string) (probe.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.RPCTimeout)
	defer cancel()
	for _, header := range c.options.Headers {
		ctx = metadata.AppendToOutgoingContext(ctx, header.Name, header.Value)
	}
	response, err := healthpb.NewHealthClient(c.client).Check(ctx, &healthpb.HealthCheckRequest{Service: service})
	if err != nil {
		s := status.Convert(err)
		return probe.StatusUnknown, &probe.RPCError{Code: probe.Code(s.Code()), Message: s.Message()}
	}
	return probe.Status(response.GetStatus()), nil
}

// Close implements probe.Conn.
func (c *conn) Close() error {
	c.release()
	return c.client.Close()
}

func callOptions(o *probe.Options) []grpc.CallOption {
	options := []grpc.CallOption{grpc.MaxCallRecvMsgSize(probe.MaxMessage)}
	if o.GZIP {
		options = append(options, grpc.UseCompressor(gzip.Name))
	}
	return options
}
