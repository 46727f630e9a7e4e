package sockets

import (
	"os"
	"testing"

	"github.com/grpc-cnb/health-probe/probe/probetest/nettest"
)

func TestMain(m *testing.M) { os.Exit(nettest.Main(m)) }
