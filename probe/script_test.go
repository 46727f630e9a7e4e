package probe_test

import (
	"flag"
	"os"
	"os/signal"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/grpc-cnb/health-probe/probe"
	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/grpcgo"
	"github.com/grpc-cnb/health-probe/probe/lean"
	"github.com/grpc-cnb/health-probe/probe/probetest"
)

// programs are the probes that the scripts run, each in a process of its own.
var programs = map[string]func(){
	"grpc_health_probe":      func() { run(lean.Transport{}) },
	"grpc_health_probe_full": func() { run(grpcgo.Transport{}) },
}

// run is the main function of a program.
func run(transport check.Transport) {
	probetest.UseNameServer()
	os.Exit(probe.Main(transport))
}

// TestMain lets many more scripts run at once than there are processors, because they spend most of their time waiting
// for deadlines.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "24"); err != nil {
		panic(err)
	}
	// What a script starts in the background ignores SIGINT, and so would the probes.
	if signal.Ignored(os.Interrupt) {
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	testscript.Main(m, programs)
}

func TestCommandLine(t *testing.T) {
	for program := range programs {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			probetest.Scripts(t, "testdata/script", program)
		})
	}
}

func TestLeanCredentials(t *testing.T) {
	t.Parallel()
	probetest.Scripts(t, "testdata/lean", "grpc_health_probe")
}

// Only the full program has credentials other than those of -tls-*.
func TestFullCredentials(t *testing.T) {
	t.Parallel()
	probetest.Scripts(t, "testdata/full", "grpc_health_probe_full")
}
