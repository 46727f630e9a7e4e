// A probe lives for milliseconds: the goroutine with which Go's runtime follows the container's CPU limit would cost it a
// few per cent, for nothing.
//
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command grpc_health_probe is the lean probe: the command line of package probe on a transport of its own, made to cost
// little each time it is executed.
package main

import (
	"os"

	"github.com/grpc-cnb/health-probe/probe"
	"github.com/grpc-cnb/health-probe/probe/lean"
)

func main() { os.Exit(probe.Main(lean.Transport{})) }
