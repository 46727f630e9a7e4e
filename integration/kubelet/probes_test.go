package kubelet

import (
	"context"
	"fmt"
	"testing"
)

// TestStartupProbeHoldsTheOthersBack has an app whose startup probe never passes: without a health service.
func TestStartupProbeHoldsTheOthersBack(t *testing.T) {
	t.Parallel()
	pod := run(t, example(t, "probes.yaml", named("startup"), withArgs("-no-health")))
	pod.untilProbes("Startup", "failed", func(_, failed int) bool { return failed >= 2 })
	for _, kind := range []string{"Readiness", "Liveness"} {
		if passed, failed := pod.probes(kind); passed+failed != 0 {
			t.Errorf("the %s probe passed %d times and failed %d times before the startup probe passed", kind, passed, failed)
		}
	}
	if got := pod.until("there", func(p Pod) bool { return p.App().Name != "" }); got.App().Started || got.Ready() {
		t.Errorf("container is started: %t, pod is ready: %t, want neither", got.App().Started, got.Ready())
	}
}

// TestReadinessFollowsTheServer flips the server's answer there and back.
func TestReadinessFollowsTheServer(t *testing.T) {
	t.Parallel()
	run(t, example(t, "probes.yaml", named("readiness"))).wantFollowing("")
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

// untilNotReadyWithinTwoPeriods counts periods by the kubelet's own clock: a probe of the second period after the flip
// must find the pod not ready any more.
func (r running) untilNotReadyWithinTwoPeriods() {
	r.t.Helper()
	_, before := r.probes("Readiness")
	poll(r.t, fmt.Sprintf("pod %q to be not ready", r.name), func(ctx context.Context) (bool, error) {
		_, failed := r.probes("Readiness") // before the kubelet is asked for the pod
		pods, err := node.Pods(ctx)
		ready := err == nil && pods[r.name].Ready()
		if ready && failed-before >= 2 {
			r.t.Fatalf("pod %q is ready although its readiness probe failed %d times", r.name, failed-before)
		}
		return err == nil && !ready, err
	})
}

// TestLivenessRestartsTheContainer has a server that says NOT_SERVING until it is restarted.
func TestLivenessRestartsTheContainer(t *testing.T) {
	t.Parallel()
	pod := run(t, example(t, "probes.yaml", named("liveness")))
	pod.untilReady()
	_, before := pod.probes("Liveness")
	pod.control("/make-not-serving")
	pod.until("restarted", func(p Pod) bool { return p.App().RestartCount == 1 })
	if _, failed := pod.probes("Liveness"); failed-before != 3 {
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
	pod := run(t, example(t, "live-and-ready.yaml", named("not-live")))
	pod.untilReady()
	pod.control("/stop-grpc")
	pod.until("restarted", func(p Pod) bool { return p.App().RestartCount == 1 })
	pod.untilReady()
}

// TestInitContainerWaits has a service that is there later than the pod that waits for it.
func TestInitContainerWaits(t *testing.T) {
	t.Parallel()
	pod := run(t, example(t, "init-container.yaml", func(pod object) {
		// A cluster's DNS would know the service by its name; the node has none. It is the node's own address here.
		aliases := []object{{"ip": Address, "hostnames": []string{"orders.default.svc.cluster.local"}}}
		pod["spec"].(object)["hostAliases"] = aliases
	}))
	pod.until("waiting", func(p Pod) bool {
		return len(p.Status.InitContainerStatuses) == 1 && p.Status.InitContainerStatuses[0].State.Running != nil
	})
	orders := run(t, object{"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": "orders"}, "spec": object{
		"hostNetwork": true,
		"containers": []object{{
			"name": "orders", "image": appImage, "args": []string{"-http=127.0.0.1:0"},
		}},
	}})
	orders.untilReady()
	if got := pod.untilReady(); got.Status.InitContainerStatuses[0].RestartCount != 0 {
		t.Errorf("the init container was restarted %d times, want none", got.Status.InitContainerStatuses[0].RestartCount)
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
	run(t, example(t, "environment.yaml")).untilReady()
}

// TestMissingProbe names a program that is not in the image. The kubelet logs that and takes it neither for passed nor for
// failed: the pod is never ready, and never restarted.
func TestMissingProbe(t *testing.T) {
	t.Parallel()
	pod := run(t, example(t, "live-and-ready.yaml", named("missing"), func(pod object) {
		for _, probe := range []string{"readinessProbe", "livenessProbe"} {
			app(pod)[probe].(object)["exec"].(object)["command"] = []string{"/layers/nothing/here"}
			app(pod)[probe].(object)["periodSeconds"] = 1
		}
	}))
	const errored = `"Probe errored" .*no such file or directory.* probeType="Liveness"`
	pod.wantLogged(errored, 4)
	if passed, failed := pod.probes("Liveness"); passed+failed != 0 {
		t.Errorf("the liveness probe passed %d times and failed %d times, want neither", passed, failed)
	}
	got := pod.until("there", func(p Pod) bool { return p.App().Name != "" })
	if got.Ready() || got.App().RestartCount != 0 {
		t.Errorf("pod is ready: %t, restarts: %d, want neither", got.Ready(), got.App().RestartCount)
	}
}
