package cluster

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

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
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return cluster.Dial(ctx, "tcp", address)
		}))
	if err != nil {
		t.Fatal(err)
	}
	return client
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

// pause is how long a client waits between two calls: each makes some hundred calls a second.
const pause = 10 * time.Millisecond

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
