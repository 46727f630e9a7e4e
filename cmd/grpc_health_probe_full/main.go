// Command grpc_health_probe_full is the health probe on grpc-go, with ALTS and SPIFFE. Package probe tells what goes in
// and what comes out.
package main

import (
	"os"

	"github.com/grpc-cnb/health-probe/probe"
	"github.com/grpc-cnb/health-probe/probe/grpcgo"
)

func main() { os.Exit(probe.Main(grpcgo.Transport{})) }
