// A probe lives for milliseconds. The goroutine in which Go's runtime follows the container's CPU limit would cost a
// few per cent more, without a benefit.
//
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command grpc_health_probe is the lean probe: the command line of package probe on a transport that keeps each
// execution cheap. The transport uses Linux's sockets. For other systems, which have no containers to probe every few
// seconds, the program is the full probe.
package main

import (
	"os"

	"github.com/grpc-cnb/health-probe/probe"
)

func main() { os.Exit(probe.Main(transport)) }
