package cluster

import (
	"context"
	"testing"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// TestReadinessIsTraffic has a Deployment of three, of which one says NOT_SERVING and SERVING again: the Service sends
// no call to it in between, and nothing is restarted.
func TestReadinessIsTraffic(t *testing.T) {
	t.Parallel()
	for _, file := range []string{viaExec, viaBridge, viaLaunch} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			newSpace(t).deploy(deployedAs(t, file, replicas(3))).wantReadinessIsTraffic()
		})
	}
}

// wantReadinessIsTraffic wants one pod of several to get no traffic while it says NOT_SERVING.
func (d deployment) wantReadinessIsTraffic() {
	d.t.Helper()
	d.untilEndpoints()
	away := d.running()[0]
	away.control("/make-not-serving")
	away.untilNotReadyWithinTwoPeriods()
	d.untilEndpoints(away.name)
	d.untilServing(20)
	for range 100 {
		if status, err := callAnew(d.t, d.address()); err != nil || status != healthpb.HealthCheckResponse_SERVING {
			d.t.Fatalf("a call through the Service was answered with %v (%v), want SERVING alone", status, err)
		}
	}
	away.untilEvent(away.name, "Unhealthy", "^Readiness probe failed: .*NOT_SERVING")
	passed, _ := away.probes("Liveness")
	away.untilProbes("Liveness", "passed more often than it may fail", func(now, _ int) bool { return now > passed+3 })
	away.control("/make-serving")
	d.untilEndpoints()
	if got := d.restarts(); got != 0 {
		d.t.Errorf("containers were restarted %d times, want none", got)
	}
}

// untilServing waits for a number of calls in a row that are answered with SERVING: kube-proxy follows the
// EndpointSlice a little later.
func (d deployment) untilServing(inARow int) {
	d.t.Helper()
	address := d.address()
	serving := 0
	pollEvery(d.t, pause, "the Service to have only pods that are serving", func(context.Context) (bool, error) {
		status, err := callAnew(d.t, address)
		if serving++; err != nil || status != healthpb.HealthCheckResponse_SERVING {
			serving = 0
		}
		return serving == inARow, err
	})
}

// TestDeadServerIsRestarted stops the gRPC server in one pod of three: it gets no more traffic, is restarted, and gets
// traffic again.
func TestDeadServerIsRestarted(t *testing.T) {
	t.Parallel()
	d := newSpace(t).deploy(deployed(t, replicas(3), func(deployment object) {
		app(template(deployment))["livenessProbe"].(object)["periodSeconds"] = 5 // so that it takes less time
	}))
	dead := d.running()[0]
	dead.control("/stop-grpc")
	d.untilEndpoints(dead.name)
	dead.untilEvent(dead.name, "Unhealthy", "^Liveness probe failed: .*connection refused")
	dead.untilEvent(dead.name, "Killing", "failed liveness probe, will be restarted")
	d.untilEndpoints()
	if got := d.restarts(); got != 1 {
		t.Errorf("containers were restarted %d times, want the dead one once", got)
	}
}

// TestDeploymentsOfTheExamples has a Deployment of three of each kind of server: with TLS, mTLS, a token, several
// services and a unix socket.
func TestDeploymentsOfTheExamples(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"tls.yaml", "mtls.yaml", "metadata.yaml", "services.yaml", "unix-socket.yaml"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t)
			s.addSecrets()
			s.deploy(asDeployment(example(t, file))).wantFollowing()
		})
	}
}

// wantFollowing wants a pod to get traffic while its server is SERVING, without a restart.
func (d deployment) wantFollowing() {
	d.t.Helper()
	d.untilEndpoints()
	away := d.running()[0]
	away.control("/make-not-serving")
	d.untilEndpoints(away.name)
	away.control("/make-serving")
	d.untilEndpoints()
	if got := d.restarts(); got != 0 {
		d.t.Errorf("containers were restarted %d times, want none", got)
	}
}
