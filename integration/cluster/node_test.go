package cluster

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

const (
	// fullNode is how many pods Kubernetes lets a node have by default (KubeletConfiguration, maxPods).
	fullNode = 110
	// defaultPeriod is Kubernetes' own, in seconds (Probe, periodSeconds).
	defaultPeriod = 10
	// eachSecond is how many pods of the node are probed every second, for each of its processors: an exec probe takes
	// one up to 80 ms.
	eachSecond = 3
)

// execProbe has time: a machine that is busy with so many processes is late now and then, which is no failure.
var execProbe = execOf(harness.ProbePath, "-addr=localhost:5000", "-connect-timeout=4s", "-rpc-timeout=4s")

// execOf is a probe that executes a command.
func execOf(command ...string) object {
	return object{"exec": object{"command": command}}
}

// TestFullNode has as many pods as a node has by default, each with an exec probe at the default period, and as many
// as the machine carries at a period of a second. No probe may fail.
func TestFullNode(t *testing.T) {
	often := eachSecond * runtime.GOMAXPROCS(0) // a container's limit of CPU time counts too
	s := newSpace(t)
	seldom := s.runMany(fullNode-often, "seldom", probed(AppImage, execProbe, defaultPeriod))
	pods := slices.Concat(seldom, s.runMany(often, "often", probed(AppImage, execProbe, 1)))
	for _, pod := range pods {
		pod.untilReady()
	}
	start := measure(t, pods)
	_, before := passed(t, seldom)
	pollEvery(t, time.Second, "each pod to be probed three times", func(context.Context) (bool, error) {
		_, least := passed(t, seldom)
		return least >= before+3, nil
	})
	end := measure(t, pods)
	s.wantNoFailure(pods)
	rate := float64(end.passed-start.passed) / end.at.Sub(start.at).Seconds()
	t.Logf("%d pods, %.1f probes a second: the node takes %.2f processors, of which the pods' %.2f", len(pods), rate,
		share(end.node()-start.node(), start, end), share(end.pods-start.pods, start, end))
	t.Logf("sockets in TIME_WAIT: %d in a pod that is probed every %d s, %d if it is every second",
		timeWait(t, seldom[0]), defaultPeriod, timeWait(t, pods[len(pods)-1]))
}

// share is the mean of the processors that were used.
func share(used time.Duration, start, end measured) float64 {
	return used.Seconds() / end.at.Sub(start.at).Seconds()
}

// probed is a pod of one container, with a readiness probe at a period in seconds, or with none. The startup probe is
// the same: it waits for the app to listen.
func probed(image string, probe object, period int) object {
	container := object{"name": "my-app", "image": image}
	setProbe(container, probe, period)
	return object{
		"apiVersion": "v1", "kind": "Pod", "metadata": object{}, "spec": object{"containers": []any{container}},
	}
}

// setProbe gives a container a readiness probe, and the same one as startup probe. It gives none if probe is nil.
func setProbe(container, probe object, period int) {
	if probe == nil {
		return
	}
	for kind, settings := range map[string]object{
		"readinessProbe": {"periodSeconds": period, "timeoutSeconds": 10, "failureThreshold": 1},
		"startupProbe":   {"periodSeconds": 1, "timeoutSeconds": 10, "failureThreshold": 120},
	} {
		maps.Copy(settings, probe)
		container[kind] = settings
	}
}

// runMany runs pods that differ in their names alone.
func (s space) runMany(n int, prefix string, pod object) (pods []running) {
	s.t.Helper()
	for i := range n {
		named(fmt.Sprintf("%s-%d", prefix, i))(pod)
		pods = append(pods, s.run(pod))
	}
	return pods
}

// wentWrong matches what the kubelet logs of a probe that failed, or that it could not make, which no metric counts.
var wentWrong = regexp.MustCompile(`"Probe (failed|errored)" probeType="Readiness"`)

// wantNoFailure wants all to be ready, never restarted, and nothing in the kubelet's log of a probe that went wrong.
func (s space) wantNoFailure(pods []running) {
	s.t.Helper()
	for _, pod := range pods {
		if _, failed := pod.probes("Readiness"); failed != 0 {
			s.t.Errorf("the readiness probe of pod %q failed %d times", pod.name, failed)
		}
		got, err := pod.pod(s.t.Context())
		if err != nil || !got.Ready() || got.App().RestartCount != 0 {
			s.t.Errorf("pod %q is ready: %t, restarts: %d, error: %v, want ready and none", pod.name, got.Ready(),
				got.App().RestartCount, err)
		}
	}
	for _, entry := range s.entries("") {
		if wentWrong.MatchString(entry) {
			s.t.Error(entry)
		}
	}
}

var timeWaitOf = regexp.MustCompile(`(?m)^TCP: .* tw (\d+) `)

// timeWait is how many connections the pod's network has in TIME_WAIT (proc(5), /proc/net/sockstat).
func timeWait(t *testing.T, r running) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/sockstat", processes(t, r.group())[0]))
	if err != nil {
		t.Fatal(err)
	}
	found := timeWaitOf.FindSubmatch(text)
	if found == nil {
		t.Fatalf("there is no count of connections in TIME_WAIT in:\n%s", text)
	}
	n, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
