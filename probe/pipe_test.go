package probe_test

import (
	"bufio"
	"os"
	"os/exec"
	"syscall"
	"testing"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/grpc-cnb/health-probe/probe/probetest"
)

// A probe gives the same outcome if nobody reads its output any more.
func TestClosedPipeChangesNoOutcome(t *testing.T) {
	server, err := probetest.Start(probetest.Config{Network: "tcp4", Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for program := range programs {
		t.Run(program, func(t *testing.T) {
			reader, writer, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			reader.Close()
			defer writer.Close()
			cmd := exec.Command(program, "-addr="+server.Addr, "-o=json", "-v")
			cmd.Stdout, cmd.Stderr = writer, writer
			if err := cmd.Run(); err != nil {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

// A watch has to end if nobody reads its output any more, or it would run forever.
func TestWatchEndsWithItsReader(t *testing.T) {
	server, err := probetest.Start(probetest.Config{Network: "tcp4", Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for program := range programs {
		t.Run(program, func(t *testing.T) {
			server.Health.SetServingStatus("", healthpb.HealthCheckResponse_SERVING)
			cmd := exec.Command(program, "-addr="+server.Addr, "-watch")
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "status: SERVING\n" {
				t.Errorf("the first line is %q, error %v", line, err)
			}
			stdout.Close()
			server.Health.SetServingStatus("", healthpb.HealthCheckResponse_NOT_SERVING)
			_ = cmd.Wait() // how it ended is in the state
			if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGPIPE {
				t.Errorf("ended with %v, want SIGPIPE", cmd.ProcessState)
			}
		})
	}
}
