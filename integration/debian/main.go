// Command debian makes the Debian of the integration tests ahead of the tests, so that scripts/test.sh can do other
// steps meanwhile. Without the command, the tests make the Debian.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

func main() {
	if missing := harness.DebianNeeds(); missing != nil {
		fmt.Fprintf(os.Stdout, "no Debian is made: it needs %v\n", missing)
		return
	}
	if err := harness.MakeDebian(context.Background(), "..", os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}
