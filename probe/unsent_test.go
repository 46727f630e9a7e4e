package probe_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/flags"
	"github.com/grpc-cnb/health-probe/probe/grpcgo"
	"github.com/grpc-cnb/health-probe/probe/probetest"
)

// A server that leaves while the probe sends its request has answered nothing. Many probes at once, on more threads
// than the machine may have processors, meet it there.
func TestServerThatLeavesIsNotLive(t *testing.T) { //nolint:paralleltest // other tests would have the threads too
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	server, err := probetest.StartWith("server", t.TempDir(), "speaks=leaving")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	const want = "checking the whole server: UNAVAILABLE: server is closing the connection " +
		`(GOAWAY, error code NO_ERROR): "bye"`
	var probes sync.WaitGroup
	for range 128 {
		probes.Go(func() {
			for range 20 {
				got := runProbe(t, grpcgo.Transport{}, "-addr="+server.Addr, "-mode=live", "-connect-timeout=1m",
					"-rpc-timeout=1m")
				if got != want {
					t.Errorf("the probe says %q", got)
				}
			}
		})
	}
	probes.Wait()
}

// runProbe returns why a probe does not pass, or what it prints if it does.
func runProbe(t *testing.T, transport check.Transport, args ...string) string {
	t.Helper()
	c := flags.New("", nil)
	if err := c.Parse(args); err != nil {
		t.Error(err)
	}
	o, err := c.Options(address.AnyPort)
	if err != nil {
		t.Error(err)
	}
	p := check.Prober{Transport: transport, Options: o}
	ended := p.Run()
	if ended.Passes() {
		return ended.Success
	}
	return ended.Failures.Error()
}
