package cluster

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/documents"
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

// TestDiscoverInADebugContainer has a sidecar beside the app, which the probe of a debug container cannot tell from it.
func TestDiscoverInADebugContainer(t *testing.T) {
	t.Parallel()
	r := run(t, example(t, "probes.yaml", func(pod object) {
		spec := pod["spec"].(object)
		spec["containers"] = append(spec["containers"].([]any), object{
			"name": "other", "image": app(pod)["image"], "args": []string{"-grpc=127.0.0.1:6002", "-http=:8081"},
		})
	}))
	r.untilReady()
	const (
		note = "whose these sockets are cannot be told from here: they are all that listen in this pod's network; " +
			"a command has this container's path of the probe, and another container may have it elsewhere"
		ofApp   = `{"grpc":{"port":5000}}`
		ofOther = `{"exec":{"command":["/bin/grpc_health_probe","-addr=127.0.0.1:6002"]},"timeoutSeconds":4}`
	)
	text := strings.Split(r.debug("text"), "\n")
	for _, line := range []string{
		note,
		"localhost:5000: gRPC in plain text; the whole server is SERVING", "  readinessProbe: " + ofApp,
		"127.0.0.1:6002: gRPC in plain text; the whole server is SERVING", "  readinessProbe: " + ofOther,
		"localhost:8080: HTTP/1.1", "localhost:8081: HTTP/1.1",
	} {
		if !slices.Contains(text, line) {
			t.Errorf("the text lacks %q:\n%s", line, strings.Join(text, "\n"))
		}
	}
	var report struct {
		Note    string
		Sockets []struct {
			Address, Own   string
			GRPC           bool
			Services       []struct{ Status string }
			ReadinessProbe json.RawMessage
		}
	}
	said := r.debug("json", "-o=json")
	if err := json.Unmarshal([]byte(said), &report); err != nil || report.Note != note || len(report.Sockets) != 4 {
		t.Fatalf("the report has another note than %q, or not four sockets (%v): %s", note, err, said)
	}
	probes := map[string]string{"localhost:5000": ofApp, "127.0.0.1:6002": ofOther}
	for _, s := range report.Sockets {
		serves := len(s.Services) == 1 && s.Services[0].Status == "SERVING"
		_, is := probes[s.Address]
		if s.Own != "unknown" || s.GRPC != is || serves != is || string(s.ReadinessProbe) != probes[s.Address] {
			t.Errorf("of %s the report says %+v: %s", s.Address, s, said)
		}
	}
}

// debug starts the probe's own image in the pod with -discover, as docs/kubernetes.md does, and returns what it logs.
func (r running) debug(container string, flags ...string) string {
	r.t.Helper()
	version, err := documents.Version(repository)
	if err != nil {
		r.t.Fatal(err)
	}
	r.kubectl(append([]string{
		"debug", r.name, "--container=" + container, "--image=" + ProbeImage + ":" + version, "--target=my-app",
		"--profile=general", "--", "/bin/grpc_health_probe", "-discover",
	}, flags...)...)
	r.until("debugged", func(p Pod) bool {
		return slices.ContainsFunc(p.Status.EphemeralContainerStatuses, func(c Container) bool {
			return c.Name == container && c.State.Terminated != nil
		})
	})
	return r.kubectl("logs", r.name, "--container="+container)
}
