// Package grpcgo is the probe's transport on google.golang.org/grpc, with support for everything on the command line,
// ALTS and SPIFFE included. In go the options of a probe, out come connections; begin reading at [Transport.Dial].
package grpcgo

import (
	"context"
	"fmt"
	"io"
	"math"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/grpclog"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/options"
)

// maxHeaderList is the greatest size of the headers of a response, in bytes.
const maxHeaderList = 64 << 10

// init silences grpc-go, which would write log lines to standard error, with raw text from the server. Package grpclog
// requires the call before any other function of grpc-go.
//
//nolint:gochecknoinits // an init function comes before all of those
func init() { grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard)) }

// Transport implements [check.Transport].
type Transport struct{}

// Dial connects to o.Address, and returns when the server's SETTINGS frame has come. Dial makes one attempt, and fails
// with the cause of the attempt's failure. With -spiffe, Dial first fetches credentials, with a separate deadline.
func (Transport) Dial(o *options.Options) (check.Conn, error) {
	creds, err := newCredentials(o)
	if err != nil && o.SPIFFE && o.Mode == options.ModeLive {
		return nil, accepts(o, err)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithDeadline(context.Background(), creds.connectBy)
	defer cancel()
	a := newAttempt(o, creds.TransportCredentials, creds.step)
	client, err := newClient(o, a)
	if err != nil {
		creds.release()
		return nil, err
	}
	c := &conn{client: client, attempt: a, options: o, release: creds.release}
	if err := connect(ctx, client, a); err != nil {
		_ = c.Close() // the cause is what counts
		return nil, err
	}
	return c, nil
}

// accepts returns a *[check.AcceptedError] if the server accepts connections, for a probe that cannot ask for lack of
// credentials.
func accepts(o *options.Options, lacks error) error {
	ctx, cancel := context.WithDeadline(context.Background(), o.Budget.Connect())
	defer cancel()
	conn, err := newAttempt(o, nil, check.StepConnect).dial(ctx, "")
	if err != nil {
		return err
	}
	_ = conn.Close() // the existence of the connection is enough
	return &check.AcceptedError{Err: lacks}
}

// newClient prepares a client that connects only through the attempt. Only the flags configure the client: no proxy, no
// service config, no name resolution and no timeout of grpc-go.
func newClient(o *options.Options, a *attempt) (*grpc.ClientConn, error) {
	client, err := grpc.NewClient("passthrough:///server",
		grpc.WithContextDialer(a.dial),
		grpc.WithTransportCredentials(a),
		grpc.WithAuthority(o.Authority()),
		grpc.WithUserAgent(o.UserAgent),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: math.MaxInt64}),
		grpc.WithStatsHandler(events{a}),
		grpc.WithNoProxy(),
		grpc.WithDisableServiceConfig(),
		grpc.WithMaxHeaderListSize(maxHeaderList),
		grpc.WithDefaultCallOptions(callOptions(o)...))
	if err != nil {
		return nil, fmt.Errorf("preparing the client: %w", err)
	}
	return client, nil
}

// connect waits until the client is ready or the first attempt has failed. A connection that the server closes right
// after the SETTINGS counts as ready: a call makes another connection if necessary.
func connect(ctx context.Context, client *grpc.ClientConn, a *attempt) error {
	client.Connect()
	for begun := false; ; {
		state := client.GetState()
		switch {
		case state == connectivity.Ready, state == connectivity.Idle && begun && a.isSettled():
			return nil
		case state == connectivity.TransientFailure, state == connectivity.Idle && begun:
			return a.failure()
		}
		begun = state != connectivity.Idle
		if !client.WaitForStateChange(ctx, state) {
			return a.expired(ctx.Err())
		}
	}
}
