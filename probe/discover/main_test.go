//go:build linux

package discover_test

import (
	"os"
	"testing"

	"github.com/grpc-cnb/health-probe/probe/probetest/nettest"
)

func TestMain(m *testing.M) {
	runProgram()
	os.Exit(nettest.Main(m))
}
