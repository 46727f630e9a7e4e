package probe_test

import (
	"context"
	"net"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/grpc-cnb/health-probe/probe"
	"github.com/grpc-cnb/health-probe/probe/grpcgo"
	"github.com/grpc-cnb/health-probe/probe/lean"
	"github.com/grpc-cnb/health-probe/probe/probetest"
)

// programs are the probes that the scripts run, each in a process of its own.
var programs = map[string]func(){
	"grpc_health_probe":      func() { run(lean.Transport{}) },
	"grpc_health_probe_full": func() { run(grpcgo.Transport{}) },
}

// run is a program's main function. With $NAME_SERVER it asks that one, since
// what is in /etc/resolv.conf is not a test's to choose.
func run(transport probe.Transport) {
	if server := os.Getenv("NAME_SERVER"); server != "" {
		net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "udp", server)
		}}
	}
	os.Exit(probe.Main(transport))
}

func TestMain(m *testing.M) { testscript.Main(m, programs) }

func TestCommandLine(t *testing.T) {
	for program := range programs {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			probetest.Scripts(t, "testdata/script", program)
		})
	}
}

// Only the full program has credentials other than those of -tls-*.
func TestFullCredentials(t *testing.T) {
	t.Parallel()
	probetest.Scripts(t, "testdata/full", "grpc_health_probe_full")
}
