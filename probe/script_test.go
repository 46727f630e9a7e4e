package probe_test

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/grpc-cnb/health-probe/probe"
	"github.com/grpc-cnb/health-probe/probe/grpcgo"
	"github.com/grpc-cnb/health-probe/probe/probetest"
)

// programs are the probes that the scripts run, each in a process of its own.
var programs = map[string]func(){
	"grpc_health_probe_full": func() { os.Exit(probe.Main(grpcgo.Transport{})) },
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
