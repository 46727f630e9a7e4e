package probe_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/grpc-cnb/health-probe/probe/probetest"
)

// A probe whose output nobody reads any more answers all the same.
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
