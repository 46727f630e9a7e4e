package cluster

import (
	"fmt"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// onPort has the app listen on another port than the one that the build has found.
func onPort(port int) func(object) {
	return func(deployment object) { app(template(deployment))["args"] = []string{fmt.Sprintf("-grpc=:%d", port)} }
}

// TestProbeFollowsTheFlagOfAManifest has an app that takes its port from a flag, which a rollout changes.
func TestProbeFollowsTheFlagOfAManifest(t *testing.T) {
	t.Parallel()
	d := newSpace(t).deploy(deployed(t, replicas(1), onPort(6001)))
	d.deploy(deployed(t, replicas(1), onPort(6002)))
	if n := d.restarts(); n != 0 {
		t.Errorf("containers were restarted %d times, want none", n)
	}
}

// stopped is how the bare probe fails if the app has stopped serving gRPC, and still listens for HTTP on a port.
func stopped(httpPort int) string {
	return fmt.Sprintf(`^Readiness probe failed: .*no (other )?socket of this container is a gRPC server `+
		`\(localhost:%d: HTTP/1\.1[,)]`, httpPort)
}

// TestProbeTakesNoSidecarsServer has a container beside the app that is SERVING while the app is not.
func TestProbeTakesNoSidecarsServer(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(object){
		"processes of its own": func(object) {},
		"shared processes":     func(pod object) { pod["spec"].(object)["shareProcessNamespace"] = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, example(t, "probes.yaml", withArgs("-grpc=:6001"), change, func(pod object) {
				delete(app(pod), "startupProbe")
				delete(app(pod), "livenessProbe")
				spec := pod["spec"].(object)
				spec["containers"] = append(spec["containers"].([]any), object{
					"name": "other", "image": app(pod)["image"], "args": []string{"-grpc=:6002", "-http=:8081"},
					"readinessProbe": app(pod)["readinessProbe"],
				})
			}))
			r.untilReady()
			r.control("/stop-grpc")
			r.untilEvent(r.name, "Unhealthy", stopped(8080))
			pod := r.until("not ready", func(p Pod) bool { return !p.App().Ready })
			if other := pod.Status.ContainerStatuses[1]; other.Name != "other" || !other.Ready {
				t.Errorf("the other container, which serves, is %+v", other)
			}
		})
	}
}

// TestProbeInTheNodesNetwork has an app among all servers of the node, of which etcd serves gRPC. Of the app's address
// nothing is known.
func TestProbeInTheNodesNetwork(t *testing.T) {
	t.Parallel()
	r := run(t, example(t, "image-volume.yaml", withArgs("-grpc=:6011", "-http=:8091"), func(pod object) {
		pod["spec"].(object)["hostNetwork"] = true
		delete(app(pod), "ports")
		exec := app(pod)["readinessProbe"].(object)["exec"].(object)
		exec["command"] = []string{harness.ProbePath}
	}))
	pod := r.untilReady()
	if _, err := cluster.HTTP(t.Context(), "http://"+pod.Status.PodIP+":8091/stop-grpc"); err != nil {
		t.Fatal(err)
	}
	r.untilEvent(r.name, "Unhealthy", stopped(8091))
	r.untilNotReady()
}
