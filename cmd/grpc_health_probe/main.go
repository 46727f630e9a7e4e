// A probe lives for milliseconds. The goroutine with which Go's runtime follows the container's CPU limit would make it
// a few per cent more expensive, and bring nothing.
//
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command grpc_health_probe is the lean probe: the command line of package probe on a transport of its own, which is
// made to cost little each time the probe is executed. That transport uses Linux's sockets; for other systems, which
// have no containers to probe every few seconds, the program is the full probe.
package main

import (
	"os"

	"github.com/grpc-cnb/health-probe/probe"
)

func main() { os.Exit(probe.Main(transport)) }
