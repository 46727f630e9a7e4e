// Package peers holds the probe's two builds, and the bridge, against each other: what lean, the one with a transport
// of its own, says of a server has to be what full, the one on grpc-go, says of it, and what the bridge answers. In go
// servers of every make, each a real one: grpc-go as it can be configured, gRPC over net/http, connect-go, the C core,
// grpc-java, Node's http2, and nginx before grpc-go. Out comes, for each row of the table, the same exit code and the
// same words. Begin with table.
package peers

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// lean and full are the probes' programs, and bridge is the bridge's.
var lean, full, bridge string

// parallel is how many rows are checked at the same time: more than there are processors, since some wait for a
// deadline.
const parallel = 8

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", strconv.Itoa(parallel)); err != nil {
		panic(err)
	}
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
	bridge = filepath.Join(dir, "grpc_health_bridge")
	build := exec.Command("go", "build", "-o", dir, "./cmd/grpc_health_probe", "./cmd/grpc_health_probe_full",
		"./cmd/grpc_health_bridge")
	build.Dir = filepath.Join("..", "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as they are shipped
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("building the programs: %w\n%s", err, out)
	}
	if err := writeIdentity(dir); err != nil {
		return 0, fmt.Errorf("making a certificate: %w", err)
	}
	return m.Run(), nil
}
