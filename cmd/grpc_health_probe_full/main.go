// Command grpc_health_probe_full is the health probe on grpc-go, with ALTS and SPIFFE. Package probe describes the
// input and the output.
package main

import (
	"os"

	"github.com/grpc-cnb/health-probe/probe"
	"github.com/grpc-cnb/health-probe/probe/grpcgo"
)

func main() { os.Exit(probe.Main(grpcgo.Transport{})) }
