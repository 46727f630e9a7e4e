package cluster

import (
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// TestImageVolume has an image that no buildpack made, and the probe's own image as a volume of its pod.
func TestImageVolume(t *testing.T) {
	t.Parallel()
	r := run(t, example(t, "image-volume.yaml"))
	r.wantFollowing("")
	r.kubectl("exec", r.name, "--", harness.ProbePath, "-addr=localhost:5000")
}

// TestBridgeFromTheProbeImage has an image that no buildpack made, and a sidecar from the probe's own image.
func TestBridgeFromTheProbeImage(t *testing.T) {
	t.Parallel()
	r := run(t, example(t, "bridge-image.yaml"))
	r.wantFollowing("")
}

// TestImageWithoutVolume has the same pod without the volume, as it is on a cluster that passes over image volumes: the
// pod is never ready, and an event says why.
func TestImageWithoutVolume(t *testing.T) {
	t.Parallel()
	r := run(t, example(t, "image-volume.yaml", func(pod object) {
		delete(app(pod), "volumeMounts")
		delete(pod["spec"].(object), "volumes")
	}))
	r.untilEvent(r.name, "Unhealthy",
		"^Readiness probe errored and resulted in unknown state: .*no such file or directory")
	pod := r.until("running", func(pod Pod) bool { return pod.App().State.Running != nil })
	if pod.Ready() {
		t.Error("the pod is ready, want it not to be")
	}
	// What is in the pod is the app alone.
	if _, err := cluster.Kubectl(t.Context(), "exec", r.name, "--namespace="+r.space.name, "--",
		harness.ProbePath); err == nil || !strings.Contains(err.Error(), "no such file or directory") {
		t.Errorf("the probe was executed with %v, want no such file", err)
	}
}
