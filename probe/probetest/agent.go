package probetest

import (
	"net"

	"github.com/spiffe/go-spiffe/v2/proto/spiffe/workload"
	"google.golang.org/grpc"
)

// agent is a SPIFFE Workload API with one identity.
type agent struct {
	workload.UnimplementedSpiffeWorkloadAPIServer
	svid *workload.X509SVID
}

// FetchX509SVID implements workload.SpiffeWorkloadAPIServer. The stream stays open for further identities (SPIFFE
// Workload API section 4.2).
func (a agent) FetchX509SVID(_ *workload.X509SVIDRequest,
	stream grpc.ServerStreamingServer[workload.X509SVIDResponse],
) error {
	if err := stream.Send(&workload.X509SVIDResponse{Svids: []*workload.X509SVID{a.svid}}); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

// start serves the agent on a unix socket until the returned stop is called.
func (a agent) start(path string) (stop func(), err error) {
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	server := grpc.NewServer()
	workload.RegisterSpiffeWorkloadAPIServer(server, a)
	serve(server, listener)
	return server.Stop, nil
}
