// Command grpc_health_bridge answers health checks on behalf of callers that cannot reach or verify the server. The
// bridge asks the server as grpc_health_probe does.
package main

import (
	"os"

	"github.com/grpc-cnb/health-probe/probe/bridge"
)

func main() { os.Exit(bridge.Main()) }
