package grpcgo

import (
	"context"
	"fmt"

	"github.com/spiffe/go-spiffe/v2/spiffetls/tlsconfig"
	"github.com/spiffe/go-spiffe/v2/workloadapi"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/alts"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/grpc-cnb/health-probe/probe"
)

// transportCredentials are credentials with the name of their handshake.
type transportCredentials struct {
	credentials.TransportCredentials
	step    probe.Step
	release func() // ends what keeps them fresh
}

// newCredentials makes the credentials that the flags ask for.
func newCredentials(ctx context.Context, o *probe.Options) (transportCredentials, error) {
	creds := transportCredentials{step: probe.StepTLS, release: func() {}}
	switch {
	case o.TLS:
		config, err := o.TLSConfig()
		if err != nil {
			return creds, err
		}
		creds.TransportCredentials = newTLS(config)
	case o.SPIFFE:
		source, err := newSource(ctx, o)
		if err != nil {
			return creds, err
		}
		creds.TransportCredentials = newTLS(tlsconfig.MTLSClientConfig(source, source, tlsconfig.AuthorizeAny()))
		creds.release = func() { _ = source.Close() } // the process ends next
	case o.ALTS:
		creds.TransportCredentials, creds.step = alts.NewClientCreds(alts.DefaultClientOptions()), probe.StepALTS
	default:
		creds.TransportCredentials = insecure.NewCredentials()
	}
	return creds, nil
}

// newSource fetches an X.509 SVID and the trust bundles.
func newSource(ctx context.Context, o *probe.Options) (*workloadapi.X509Source, error) {
	ctx, cancel := context.WithTimeout(ctx, o.RPCTimeout)
	defer cancel()
	source, err := workloadapi.NewX509Source(ctx)
	if err != nil {
		return nil, &probe.Failure{Code: probe.ExitSPIFFE, Err: fmt.Errorf("fetching SPIFFE credentials within %v: %w", o.RPCTimeout, err),
			Hint: "set " + workloadapi.SocketEnv + " to the Workload API's socket, such as unix:///run/spire/sockets/agent.sock"}
	}
	return source, nil
}
