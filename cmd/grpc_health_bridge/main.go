// Command grpc_health_bridge answers health checks for a gRPC server that whoever asks cannot check itself. It asks the
// server as grpc_health_probe does.
package main

import (
	"os"

	"github.com/grpc-cnb/health-probe/probe/bridge"
)

func main() { os.Exit(bridge.Main()) }
