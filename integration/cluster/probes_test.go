package cluster

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestStartupProbeHoldsTheOthersBack has an app whose startup probe never passes: without a health service.
func TestStartupProbeHoldsTheOthersBack(t *testing.T) {
	t.Parallel()
	pod := run(t, example(t, "probes.yaml", withArgs("-no-health")))
	pod.untilProbes("Startup", "failed", func(_, failed int) bool { return failed >= 2 })
	for _, kind := range []string{"Readiness", "Liveness"} {
		if passed, failed := pod.probes(kind); passed+failed != 0 {
			t.Errorf("the %s probe passed %d times and failed %d times before the startup probe passed", kind, passed,
				failed)
		}
	}
	if got := pod.until("there", func(p Pod) bool { return p.App().Name != "" }); got.App().Started || got.Ready() {
		t.Errorf("container is started: %t, pod is ready: %t, want neither", got.App().Started, got.Ready())
	}
}

// TestReadinessFollowsTheServer flips the server's answer there and back.
func TestReadinessFollowsTheServer(t *testing.T) {
	t.Parallel()
	run(t, example(t, "probes.yaml")).wantFollowing("")
}

// wantFollowing wants the pod to be ready while the server, or one of its services, is SERVING, without a restart.
func (r running) wantFollowing(service string) {
	r.t.Helper()
	r.untilReady()
	r.control("/make-not-serving?service=" + service)
	r.untilNotReadyWithinTwoPeriods()
	r.control("/make-serving?service=" + service)
	if got := r.untilReady(); got.App().RestartCount != 0 {
		r.t.Errorf("container was restarted %d times, want none", got.App().RestartCount)
	}
}

// untilNotReadyWithinTwoPeriods counts periods by the kubelet's own clock: the probe of the second period after the
// flip must find the pod not ready any more. The kubelet's log has its probes and what follows of them in their order,
// while the API server is told later.
func (r running) untilNotReadyWithinTwoPeriods() {
	r.t.Helper()
	r.untilNotReady()
	var failed int
	poll(r.t, fmt.Sprintf("the kubelet to log that pod %q is not ready", r.name), func(context.Context) (bool, error) {
		failed = 0
		decided := false
		for _, entry := range r.entries(r.name) {
			switch {
			case strings.Contains(entry, `probe="readiness" status="ready"`):
				failed, decided = 0, false
			case strings.Contains(entry, `probe="readiness" status="not ready"`):
				decided = true
			case strings.Contains(entry, `"Probe failed" probeType="Readiness"`) && !decided:
				failed++
			}
		}
		return decided, nil
	})
	if failed > 2 {
		r.t.Errorf("pod %q was ready until its readiness probe failed %d times", r.name, failed)
	}
}

// atFirstFailure has the kubelet take the pod for not ready at the first failure, as other examples do.
func atFirstFailure(pod object) {
	app(pod)["readinessProbe"].(object)["failureThreshold"] = 1
}

// TestLivenessRestartsTheContainer has a server that says NOT_SERVING until it is restarted.
func TestLivenessRestartsTheContainer(t *testing.T) {
	t.Parallel()
	pod := run(t, example(t, "probes.yaml"))
	pod.untilReady()
	_, before := pod.probes("Liveness")
	pod.control("/make-not-serving")
	pod.until("restarted", func(p Pod) bool { return p.App().RestartCount == 1 })
	if _, failed := pod.probes("Liveness"); failed-before < 3 {
		t.Errorf("the liveness probe failed %d times before the restart, want its failureThreshold, 3", failed-before)
	}
	if got := pod.untilReady(); got.App().RestartCount != 1 {
		t.Errorf("container was restarted %d times, want once", got.App().RestartCount)
	}
}

// TestLiveIsNotReady has one server with two answers: NOT_SERVING takes it out of service and leaves it alive.
func TestLiveIsNotReady(t *testing.T) {
	t.Parallel()
	pod := run(t, example(t, "live-and-ready.yaml"))
	pod.untilReady()
	pod.control("/make-not-serving")
	pod.untilNotReadyWithinTwoPeriods()
	passed, _ := pod.probes("Liveness")
	pod.untilProbes("Liveness", "passed more often than it may fail", func(now, _ int) bool { return now > passed+3 })
	if _, failed := pod.probes("Liveness"); failed != 0 {
		t.Errorf("the liveness probe failed %d times, want none", failed)
	}
	pod.control("/make-serving")
	if got := pod.untilReady(); got.App().RestartCount != 0 {
		t.Errorf("container was restarted %d times, want none", got.App().RestartCount)
	}
}

// TestNotLiveIsRestarted has a server that stops answering.
func TestNotLiveIsRestarted(t *testing.T) {
	t.Parallel()
	pod := run(t, example(t, "live-and-ready.yaml"))
	pod.untilReady()
	pod.control("/stop-grpc")
	pod.until("restarted", func(p Pod) bool { return p.App().RestartCount == 1 })
	pod.untilReady()
}

// TestInitContainerWaits has a Service whose pod is there later than the pod that waits for it.
func TestInitContainerWaits(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	orders := object{"app": "orders"}
	s.apply(object{
		"apiVersion": "v1", "kind": "Service", "metadata": object{"name": "orders"},
		"spec": object{"selector": orders, "ports": []object{{"port": 5000}}},
	})
	var service struct{ Spec struct{ ClusterIP string } }
	if err := s.read(t.Context(), "services/orders", &service); err != nil {
		t.Fatal(err)
	}
	pod := s.run(example(t, "init-container.yaml", func(pod object) {
		// A cluster's DNS would know the Service by its name; this cluster has none.
		pod["spec"].(object)["hostAliases"] = []object{{
			"ip": service.Spec.ClusterIP, "hostnames": []string{"orders.default.svc.cluster.local"},
		}}
	}))
	pod.until("waiting", func(p Pod) bool {
		return p.Sidecar().State.Running != nil
	})
	s.run(object{
		"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": "orders", "labels": orders},
		"spec": object{"containers": []object{{"name": "orders", "image": AppImage}}},
	}).untilReady()
	if got := pod.untilReady(); got.Sidecar().RestartCount != 0 {
		t.Errorf("the init container was restarted %d times, want none", got.Sidecar().RestartCount)
	}
}

// TestDeployment runs the pod of a Deployment. NOT_SERVING takes it out of service and leaves it alive.
func TestDeployment(t *testing.T) {
	t.Parallel()
	run(t, example(t, "deployment.yaml")).wantFollowing("")
}

// TestProbeHasItsOwnGracePeriod has an app that does not end when it is asked to. The kubelet kills it when the grace
// period of the liveness probe is over, not that of the pod.
func TestProbeHasItsOwnGracePeriod(t *testing.T) {
	t.Parallel()
	pod := run(t, example(t, "deployment.yaml", withArgs("-ignore-sigterm"), func(pod object) {
		pod["spec"].(object)["terminationGracePeriodSeconds"] = int(2 * patience / time.Second)
		app(pod)["livenessProbe"].(object)["periodSeconds"] = 1
	}))
	pod.untilReady()
	pod.control("/stop-grpc")
	pod.until("restarted", func(p Pod) bool { return p.App().RestartCount == 1 })
	pod.untilReady()
}

// TestAppStartsAfterItsSidecar has a sidecar whose startup probe does not pass, and then one whose probe does.
func TestAppStartsAfterItsSidecar(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.run(example(t, "sidecar.yaml", atFirstFailure)).wantFollowing("")

	waiting := s.run(example(t, "sidecar.yaml", named("sidecar-waiting"), func(pod object) {
		sidecar(pod)["args"] = []string{"-grpc=:5001", "-http=:8081", "-no-health"}
	}))
	waiting.untilProbes("Startup", "failed", func(_, failed int) bool { return failed >= 3 })
	if got := waiting.until("there", func(p Pod) bool { return p.App().Name != "" }); got.App().Started || got.Ready() {
		t.Errorf("the app is started: %t, the pod is ready: %t, want neither", got.App().Started, got.Ready())
	}
}

// TestServices has two services in one probe, of which one fails.
func TestServices(t *testing.T) {
	t.Parallel()
	run(t, example(t, "services.yaml")).wantFollowing("shop.Payments")
}

// TestEnvironment has the address in an environment variable.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	run(t, example(t, "environment.yaml", atFirstFailure)).wantFollowing("")
}
