package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The tests here hold what the section "When a probe cannot run" of docs/troubleshooting.md says.

// everySecond has a probe made each second, so that it takes less time until one fails.
func everySecond(kinds ...string) func(object) {
	return func(pod object) {
		for _, kind := range kinds {
			app(pod)[kind].(object)["periodSeconds"] = 1
		}
	}
}

// TestMissingProbe names a program that is not in the image. The kubelet logs that and takes it neither for passed nor
// for failed: the pod is never ready, and never restarted.
func TestMissingProbe(t *testing.T) {
	t.Parallel()
	missing := func(kinds ...string) func(object) {
		return func(pod object) {
			for _, kind := range kinds {
				app(pod)[kind].(object)["exec"].(object)["command"] = []string{"/layers/nothing/here"}
				app(pod)[kind].(object)["failureThreshold"] = 1
			}
			everySecond(kinds...)(pod)
		}
	}
	all := []string{"startupProbe", "readinessProbe", "livenessProbe"}
	for kind, pod := range map[string]object{
		"Startup":  example(t, "deployment.yaml", missing(all...)),
		"Liveness": example(t, "live-and-ready.yaml", missing(all[1:]...)),
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			pod := run(t, pod)
			pod.wantLogged(`"Probe errored" probeType="`+kind+`" .*no such file or directory`, 4)
			pod.untilEvent(pod.name, "Unhealthy",
				"^"+kind+" probe errored and resulted in unknown state: .*no such file or directory")
			if passed, failed := pod.probes(kind); passed+failed != 0 {
				t.Errorf("the probe passed %d times and failed %d times, want neither", passed, failed)
			}
			got := pod.until("there", func(p Pod) bool { return p.App().Name != "" })
			if got.Ready() || got.App().RestartCount != 0 {
				t.Errorf("pod is ready: %t, restarts: %d, want neither", got.Ready(), got.App().RestartCount)
			}
		})
	}
}

// TestPausedNode stops all processes of the node for ten seconds, as a machine does that is moved or that has no time,
// while a liveness probe is under way.
func TestPausedNode(t *testing.T) {
	s := newSpace(t)
	d := s.deploy(deployed(t))
	alive := s.run(example(t, "live-and-ready.yaml", everySecond("livenessProbe"), func(pod object) {
		delete(app(pod), "readinessProbe")
	}))
	alive.untilReady()
	before := nodeCondition(t)
	passed, failed := alive.probes("Liveness")

	var resume func()
	pollEvery(t, time.Millisecond, "a liveness probe to be under way", func(context.Context) (bool, error) {
		if !alive.underWay() {
			return false, nil
		}
		if resume = pauseNode(t); alive.underWay() {
			return true, nil
		}
		resume() // it was too late
		return false, nil
	})
	begin := time.Now()
	poll(t, "ten seconds to be over", func(context.Context) (bool, error) {
		if now := nodeCondition(t); now != before {
			t.Fatalf("the node's condition is %+v, want it as before, %+v", now, before)
		}
		if !isStopped(programIn(t, SystemGroup, "kubelet")) {
			t.Fatal("the kubelet runs")
		}
		return time.Since(begin) >= 10*time.Second, nil
	})
	resume()

	alive.untilProbes("Liveness", "passed more often than it may fail", func(now, _ int) bool { return now > passed+3 })
	_, now := alive.probes("Liveness")
	t.Logf("the liveness probe failed %d times", now-failed)
	if now-failed > 1 {
		t.Errorf("the liveness probe failed %d times, want none but the one that was under way", now-failed)
	}
	d.untilEndpoints()
	got := alive.untilReady()
	if n := d.restarts() + got.App().RestartCount; n != 0 {
		t.Errorf("containers were restarted %d times, want none", n)
	}
	if now := nodeCondition(t); now != before {
		t.Errorf("the node's condition is %+v, want it as before, %+v", now, before)
	}
}

// condition is one of the node's.
type condition struct{ Type, Status, LastTransitionTime string }

// nodeCondition is whether the node is ready, and since when.
func nodeCondition(t *testing.T) condition {
	t.Helper()
	var node struct {
		Status struct{ Conditions []condition }
	}
	if err := cluster.Read(t.Context(), "/api/v1/nodes/"+NodeName, &node); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(node.Status.Conditions, func(c condition) bool { return c.Type == "Ready" })
	if i < 0 {
		t.Fatalf("the node has no condition Ready: %+v", node)
	}
	return node.Status.Conditions[i]
}

// underWay reports whether a probe of the pod has a process: there is one more than the pod's own and the app.
func (r running) underWay() bool {
	r.t.Helper()
	return len(processes(r.t, r.group())) > 2
}

// group is the pod's cgroup, in the cluster's.
func (r running) group() string {
	r.t.Helper()
	pod, err := r.pod(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	group := filepath.Join(PodsGroup, strings.ToLower(pod.Status.QOSClass), "pod"+pod.Metadata.UID)
	if pod.Status.QOSClass == "Guaranteed" {
		group = filepath.Join(PodsGroup, "pod"+pod.Metadata.UID)
	}
	return group
}

// processes are those in groups of the cluster's cgroup, and in all groups below them.
func processes(t *testing.T, names ...string) (pids []int) {
	t.Helper()
	groups, err := findGroups(filepath.Base(cluster.folder))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		err := filepath.WalkDir(filepath.Join(groups[0], name), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.Name() != "cgroup.procs" {
				return err
			}
			text, err := os.ReadFile(path)
			for field := range strings.FieldsSeq(string(text)) {
				if pid, err := strconv.Atoi(field); err == nil {
					pids = append(pids, pid)
				}
			}
			return err
		})
		// A group goes with its container while it is read.
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENODEV) {
			t.Fatal(err)
		}
	}
	return pids
}

// pauseNode stops all processes of the node: the kubelet, kube-proxy, containerd and the pods. The control plane goes
// on. A signal is what a cluster that is killed meanwhile can be ended with, other than with a frozen cgroup.
func pauseNode(t *testing.T) (resume func()) {
	t.Helper()
	stopped := map[int]bool{}
	resume = func() {
		for pid := range stopped {
			_ = unix.Kill(pid, unix.SIGCONT) // it may have been killed
		}
		clear(stopped)
	}
	t.Cleanup(resume)
	// Those that start others come first; once nothing new is found, all are stopped.
	for before := -1; before < len(stopped); {
		before = len(stopped)
		for _, pid := range processes(t, SystemGroup, PodsGroup) {
			if !stopped[pid] && unix.Kill(pid, unix.SIGSTOP) == nil {
				stopped[pid] = true
			}
		}
	}
	if len(stopped) == 0 {
		t.Fatal("the node has no process")
	}
	return resume
}

// isStopped reports whether a signal has stopped the process: the third field of its stat, after the name in brackets
// (proc_pid_stat(5)).
func isStopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(stat), ") ")
	return err == nil && strings.HasPrefix(after, "T")
}

// TestContainerdRestarts kills containerd, which the cluster's init starts again, under traffic and probes.
func TestContainerdRestarts(t *testing.T) {
	d := newSpace(t).deploy(deployed(t, func(deployment object) {
		everySecond("readinessProbe", "livenessProbe")(template(deployment))
	}))
	traffic := d.startTraffic()
	killed := programIn(t, SystemGroup, containerd)
	if err := unix.Kill(killed, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	poll(t, "another containerd", func(context.Context) (bool, error) {
		now := programIn(t, SystemGroup, containerd)
		return now != 0 && now != killed, nil
	})
	for _, pod := range d.running() {
		passed, _ := pod.probes("Liveness")
		pod.untilProbes("Liveness", "passed again", func(now, _ int) bool { return now > passed+3 })
		for _, kind := range []string{"Readiness", "Liveness"} {
			if _, failed := pod.probes(kind); failed != 0 {
				t.Errorf("the %s probe of pod %q failed %d times, want none", kind, pod.name, failed)
			}
		}
	}
	d.untilEndpoints()
	if n := d.restarts(); n != 0 {
		t.Errorf("containers were restarted %d times, want none", n)
	}
	if failed := traffic.end(t); failed != 0 {
		t.Errorf("%d calls failed, want none", failed)
	}
}

// programIn is the PID of a program in a group of the cluster's cgroup; 0 if it does not run.
func programIn(t *testing.T, group, name string) int {
	t.Helper()
	for _, pid := range processes(t, group) {
		comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if err == nil && strings.TrimSpace(string(comm)) == name {
			return pid
		}
	}
	return 0
}

// TestNoMemory has an app that takes more and more memory, and a probe each second: when nothing is left for the probe,
// the kernel kills the process that has the most.
func TestNoMemory(t *testing.T) {
	t.Parallel()
	pod := run(t, example(t, "deployment.yaml", everySecond("readinessProbe", "livenessProbe"), func(pod object) {
		app(pod)["resources"] = object{"limits": object{"memory": "48Mi"}}
	}))
	pod.untilReady()
	pod.leak(func() {
		before, _ := pod.probes("Readiness")
		pollEvery(t, 100*time.Millisecond, "a probe after that", func(ctx context.Context) (bool, error) {
			now, err := pod.pod(ctx)
			passed, _ := pod.probes("Readiness")
			return passed != before || now.App().RestartCount > 0 || !now.Ready(), err
		})
	})
	if got := pod.untilReady(); got.App().RestartCount != 1 {
		t.Errorf("container was restarted %d times, want once", got.App().RestartCount)
	}
}

// leak takes more and more memory in the app, until the kernel has killed the container for that. It calls after each
// time between.
func (r running) leak(between func()) {
	r.t.Helper()
	var killed error // or what else the app ended of
	poll(r.t, "the container to be killed", func(ctx context.Context) (bool, error) {
		got, err := r.pod(ctx)
		if end := got.App().LastState.Terminated; end != nil {
			if end.Reason != "OOMKilled" {
				r.t.Errorf("the container ended for the reason %q, want OOMKilled", end.Reason)
			}
			return true, nil
		}
		// It fails at the app's end. The container that comes then is to live.
		if err == nil && killed == nil {
			_, killed = cluster.HTTP(ctx, "http://"+got.Status.PodIP+":8080/leak")
			between()
		}
		return false, errors.Join(err, killed)
	})
}

// TestLittleCPU has an app with 20 thousandths of a processor: 2 ms in each 100 ms, for app and probes together.
func TestLittleCPU(t *testing.T) {
	t.Parallel()
	pod := run(t, example(t, "deployment.yaml", func(pod object) {
		app(pod)["resources"] = object{"limits": object{"cpu": "20m"}}
		app(pod)["livenessProbe"].(object)["periodSeconds"] = 5 // so that it takes less time
	}))
	pod.untilReady()
	for _, kind := range []string{"Readiness", "Liveness"} {
		pod.untilProbes(kind, "passed three times", func(passed, _ int) bool { return passed >= 3 })
		_, failed := pod.probes(kind) // a machine that is busy adds to what the limit costs
		t.Logf("the %s probe failed %d times", kind, failed)
	}
	if got := pod.untilReady(); got.App().RestartCount != 0 {
		t.Errorf("container was restarted %d times, want none", got.App().RestartCount)
	}
	var probes, seconds, throttled float64
	for metric, sum := range map[string]*float64{
		"prober_probe_duration_seconds_sum": &seconds, "prober_probe_duration_seconds_count": &probes,
	} {
		each(t, []running{pod}, "/metrics/probes", metric, func(s sample) { *sum += s.value })
	}
	t.Logf("a readiness probe takes %.1f s in the mean", seconds/probes)
	each(t, []running{pod}, "/metrics/cadvisor", "container_cpu_cfs_throttled_periods_total", func(s sample) {
		throttled += s.value
	})
	if throttled == 0 {
		t.Error("the container never waited for CPU time, want the limit to be felt")
	}
}
