package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// call asks the server behind an address for its health, which is the only call that the sample app answers.
func call(ctx context.Context, client *grpc.ClientConn) (healthpb.HealthCheckResponse_ServingStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	response, err := healthpb.NewHealthClient(client).Check(ctx, new(healthpb.HealthCheckRequest))
	return response.GetStatus(), err
}

// dial makes a client of an address in the cluster.
func dial(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	client, err := grpc.NewClient("passthrough:///"+address,
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy(),
		grpc.WithContextDialer(dialFromNextPort))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// The ports from which calls are made, which the kernel does not give to others (net.ipv4.ip_local_port_range).
const firstPort, lastPort = 11_000, 32_767

var nextPort atomic.Uint32

// dialFromNextPort connects to an address in the cluster from a port that was not used for long. So many connections
// are made that the kernel would soon give a port again, while its connection tracking still maps that port to the pod
// of the connection before, which may have gone.
func dialFromNextPort(ctx context.Context, address string) (net.Conn, error) {
	for {
		port := firstPort + int(nextPort.Add(1)%(lastPort-firstPort+1))
		conn, err := cluster.dial(ctx, &net.Dialer{
			LocalAddr: &net.TCPAddr{Port: port},
			Control: func(_, _ string, conn syscall.RawConn) error {
				var set error
				err := conn.Control(func(fd uintptr) {
					set = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
				})
				return errors.Join(err, set)
			},
		}, "tcp", address)
		if errors.Is(err, unix.EADDRINUSE) {
			continue // something listens there
		}
		return conn, err
	}
}

// callAnew makes one call on a connection of its own, which the Service sends to any of its pods.
func callAnew(t *testing.T, address string) (healthpb.HealthCheckResponse_ServingStatus, error) {
	t.Helper()
	client := dial(t, address)
	defer client.Close()
	return call(t.Context(), client)
}

// traffic is made by clients that call a Service again and again, until it is stopped.
type traffic struct {
	stop func()
	all  sync.WaitGroup

	mutex  sync.Mutex
	calls  int
	failed []error
}

// pause is how long a client waits between two calls: each makes dozens of calls a second.
const pause = 25 * time.Millisecond

// startTraffic starts two clients that keep their connection, as most do, and two that make a new one for each call.
// Before it begins the Service answers: kube-proxy follows the pods a little later.
func (d deployment) startTraffic() *traffic {
	t, address := d.t, d.address()
	t.Helper()
	d.untilServing(20)
	ctx, stop := context.WithCancel(t.Context())
	tr := &traffic{stop: stop}
	t.Cleanup(stop)
	for range 2 {
		tr.all.Go(func() {
			client := dial(t, address)
			defer client.Close()
			tr.repeat(ctx, func() error {
				_, err := call(t.Context(), client)
				return err
			})
		})
		tr.all.Go(func() {
			tr.repeat(ctx, func() error {
				_, err := callAnew(t, address)
				return err
			})
		})
	}
	return tr
}

func (tr *traffic) repeat(ctx context.Context, call func() error) {
	for ctx.Err() == nil {
		begin := time.Now()
		err := call()
		tr.mutex.Lock()
		tr.calls++
		if err != nil {
			tr.failed = append(tr.failed, fmt.Errorf("%s, after %v: %w", begin.Format("15:04:05.000"),
				time.Since(begin).Round(time.Millisecond), err))
		}
		tr.mutex.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// made is how many calls were made so far.
func (tr *traffic) made() int {
	tr.mutex.Lock()
	defer tr.mutex.Unlock()
	return tr.calls
}

// end stops the clients and returns how many calls failed. The test's log has how many they made, and the first errors.
func (tr *traffic) end(t *testing.T) (failed int) {
	t.Helper()
	tr.stop()
	tr.all.Wait()
	t.Logf("%d calls, of which %d failed", tr.calls, len(tr.failed))
	for _, err := range tr.failed[:min(len(tr.failed), 5)] {
		t.Log(err)
	}
	return len(tr.failed)
}
