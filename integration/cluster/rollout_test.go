package cluster

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// slowStart is for how long the app of these tests does not listen yet when its process runs: without a probe the
// Service sends it calls from the beginning.
const slowStart = "-delay=3s"

// starting is the Deployment of an example, of an app that takes time to start.
func starting(t *testing.T, file string, changes ...func(deployment object)) []object {
	t.Helper()
	return deployedAs(t, file, append(changes, func(deployment object) {
		withArgs(slowStart)(template(deployment))
	})...)
}

// withoutProbes leaves out what asks the app.
func withoutProbes(deployment object) {
	for _, probe := range []string{"startupProbe", "readinessProbe", "livenessProbe"} {
		delete(app(template(deployment)), probe)
	}
}

// TestRolloutLosesNoCall has clients that call the Service during a restart and an update of the image.
func TestRolloutLosesNoCall(t *testing.T) {
	t.Parallel()
	for file, image := range map[string]string{viaExec: NewImage, viaBridge: NewImage, viaLaunch: NewLaunchImage} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			d := newSpace(t).deploy(starting(t, file))
			calls := d.startTraffic()
			d.roll(calls, image)
			if failed := calls.end(t); failed > 0 {
				t.Errorf("%d calls failed, want none", failed)
			}
		})
	}
}

// TestRolloutWithoutProbesLosesCalls has the same, except the probes: so many calls are made that the first rollout
// without them fails some.
func TestRolloutWithoutProbesLosesCalls(t *testing.T) {
	t.Parallel()
	d := newSpace(t).deploy(starting(t, viaExec, withoutProbes))
	calls := d.startTraffic()
	d.roll(calls, NewImage)
	if calls.end(t) == 0 {
		t.Error("no call failed, want some")
	}
}

// roll restarts all pods and updates their image, with calls before, between and after.
func (d deployment) roll(calls *traffic, image string) {
	d.t.Helper()
	d.untilMade(calls)
	before := d.running()
	d.kubectl("rollout", "restart", "deployment/"+d.name)
	d.untilRolledOut()
	d.untilReplaced(before)
	d.untilMade(calls)
	before = d.running()
	d.kubectl("set", "image", "deployment/"+d.name, "my-app="+image)
	d.untilRolledOut()
	d.untilReplaced(before)
	d.untilMade(calls)
}

// untilMade waits for some more calls.
func (d deployment) untilMade(calls *traffic) {
	d.t.Helper()
	more := calls.made() + 100
	poll(d.t, "clients to make calls", func(context.Context) (bool, error) { return calls.made() >= more, nil })
}

// untilReplaced waits until none of the pods is there any more.
func (d deployment) untilReplaced(old []running) {
	d.t.Helper()
	poll(d.t, "the old pods to be gone", func(ctx context.Context) (bool, error) {
		var list struct{ Items []Pod }
		err := d.read(ctx, "pods", &list)
		return err == nil && !slices.ContainsFunc(list.Items, func(p Pod) bool {
			return slices.ContainsFunc(old, func(r running) bool { return r.name == p.Metadata.Name })
		}), err
	})
}

// TestBadImageStopsTheRollout updates to an image whose server has no health service: its pod never gets a call, the
// old ones stay, and no client notices.
func TestBadImageStopsTheRollout(t *testing.T) {
	t.Parallel()
	d := newSpace(t).deploy(deployed(t))
	calls := d.startTraffic()
	before := d.running()
	d.kubectl("set", "image", "deployment/"+d.name, "my-app="+BadImage)
	var bad string
	poll(t, "the rollout to make one pod of the bad image", func(ctx context.Context) (bool, error) {
		pods, err := d.pods(ctx)
		for _, pod := range pods {
			if !slices.Contains(before, running{d.space, pod.Metadata.Name}) {
				bad = pod.Metadata.Name
			}
		}
		return bad != "", err
	})
	d.untilEvent(bad, "Unhealthy", "^Startup probe failed: .*UNIMPLEMENTED")
	d.untilEndpoints(bad)
	if _, err := cluster.Kubectl(t.Context(), "rollout", "status", "deployment/"+d.name, "--timeout=15s",
		"--namespace="+d.space.name); err == nil || !strings.Contains(err.Error(), "timed out waiting") {
		t.Errorf("the rollout ended with %v, want it to wait", err)
	}
	for _, old := range before {
		old.untilReady()
	}
	if failed := calls.end(t); failed > 0 {
		t.Errorf("%d calls failed, want none", failed)
	}
}
