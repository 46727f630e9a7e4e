package grpcgo

import (
	"context"
	"fmt"
	"time"

	"github.com/spiffe/go-spiffe/v2/spiffetls/tlsconfig"
	"github.com/spiffe/go-spiffe/v2/workloadapi"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/alts"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// transportCredentials are credentials with the step of the handshake.
type transportCredentials struct {
	credentials.TransportCredentials
	step    check.Step
	release func() // stops the renewal
	// connectBy is the deadline for connecting. Reading files is part of connecting, fetching is not.
	connectBy time.Time
}

func newCredentials(o *options.Options) (transportCredentials, error) {
	creds := transportCredentials{step: check.StepTLS, release: func() {}}
	switch {
	case o.TLS:
		creds.connectBy = o.Budget.Connect()
		config, err := check.TLSConfig(o, creds.connectBy)
		if err != nil {
			return creds, err
		}
		creds.TransportCredentials = newTLS(config)
	case o.SPIFFE:
		source, err := newSource(o)
		if err != nil {
			return creds, err
		}
		creds.TransportCredentials = newTLS(tlsconfig.MTLSClientConfig(source, source, tlsconfig.AuthorizeAny()))
		creds.release = func() { _ = source.Close() } // an error changes nothing: the process ends next
	case o.ALTS:
		creds.TransportCredentials, creds.step = alts.NewClientCreds(alts.DefaultClientOptions()), check.StepALTS
	default:
		creds.TransportCredentials = insecure.NewCredentials()
	}
	if creds.connectBy.IsZero() {
		creds.connectBy = o.Budget.Connect()
	}
	return creds, nil
}

// newSource fetches an X.509 SVID and the trust bundles.
func newSource(o *options.Options) (*workloadapi.X509Source, error) {
	ctx, cancel := context.WithDeadline(context.Background(), o.Budget.Fetch())
	defer cancel()
	source, err := workloadapi.NewX509Source(ctx)
	if err != nil {
		return nil, &outcome.Failure{
			Code: outcome.ExitSPIFFE,
			Err:  fmt.Errorf("fetching SPIFFE credentials within %v: %w", o.Budget.RPCTimeout, err),
			Hint: "set " + workloadapi.SocketEnv + " to the Workload API's socket, " +
				"such as unix:///run/spire/sockets/agent.sock",
		}
	}
	return source, nil
}
