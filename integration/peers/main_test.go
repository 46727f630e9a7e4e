// Package peers holds the probe's two builds against each other: what lean, the one with a transport of its own, says
// of a server has to be what full, the one on grpc-go, says of it. In go servers of every make, each a real one:
// grpc-go as it can be configured, gRPC over net/http, connect-go, the C core, grpc-java, Node's http2, and nginx
// before grpc-go. Out comes, for each row of the table, the same exit code and the same words. Begin with table.
package peers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// lean and full are the probes' programs.
var lean, full string

func TestMain(m *testing.M) {
	code, err := testMain(m)
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		code = 1
	}
	os.Exit(code)
}

func testMain(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	lean, full = filepath.Join(dir, "grpc_health_probe"), filepath.Join(dir, "grpc_health_probe_full")
	build := exec.Command("go", "build", "-o", dir, "./cmd/grpc_health_probe", "./cmd/grpc_health_probe_full")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("building the probes: %w\n%s", err, out)
	}
	if err := writeIdentity(dir); err != nil {
		return 0, fmt.Errorf("making a certificate: %w", err)
	}
	return m.Run(), nil
}
