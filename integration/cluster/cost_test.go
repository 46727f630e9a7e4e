package cluster

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"runtime"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

const (
	// fullNode is how many pods Kubernetes lets a node have by default (KubeletConfiguration, maxPods).
	fullNode = 110
	// perProcessor is how many exec probes a second a processor carries beside other work: each takes it up to 80 ms.
	perProcessor = 8
)

// execProbe has time: a machine that is busy with so many processes is late now and then, which is no failure.
var execProbe = object{"exec": object{"command": []string{
	harness.ProbePath, "-addr=localhost:5000", "-connect-timeout=4s", "-rpc-timeout=4s",
}}}

// compared are the probes whose costs are compared, and how often each pod is probed meanwhile, once a second.
var compared = []struct {
	name, title, image string
	probe              object
	times              int
}{
	{"lean", "exec, lean", AppImage, execProbe, 60},
	{"full", "exec, full", FullImage, execProbe, 60},
	{"native", "native", AppImage, object{"grpc": object{"port": 5000}}, 20},
}

// TestManyPods probes as many pods as the machine carries, each every second. No probe may fail. It prints what they
// cost.
func TestManyPods(t *testing.T) {
	n := min(fullNode, perProcessor*runtime.GOMAXPROCS(0)) // a container's limit of CPU time counts too
	var costs []cost
	for _, c := range compared {
		t.Run(c.name, func(t *testing.T) {
			s := newSpace(t)
			pods := s.runMany(n, c.image, c.probe)
			start := measure(t, pods)
			what := fmt.Sprintf("%d pods to be probed %d times each", n, c.times)
			pollEvery(t, time.Second, what, func(context.Context) (bool, error) {
				_, least := passed(t, pods)
				return least >= start.least+c.times, nil
			})
			costs = append(costs, measure(t, pods).since(start))
			s.wantNoFailure(pods)
		})
		poll(t, "the pods to be gone", func(ctx context.Context) (bool, error) {
			var list struct{ Items []Pod }
			err := cluster.Read(ctx, "/api/v1/pods", &list)
			return err == nil && len(list.Items) == 0, err
		})
	}
	if t.Failed() {
		return
	}
	table := costTable(n, costs)
	fmt.Printf("%d pods (%d a processor; a full node has %d), each probed every second:\n%s", n, perProcessor, fullNode,
		table)
	if os.Getenv("UPDATE_BENCHMARKS") != "" {
		writeSection(t, table)
	}
}

// runMany runs pods of one kind and returns when all are ready. The startup probe waits for the app to listen.
func (s space) runMany(n int, image string, probe object) []running {
	s.t.Helper()
	readiness := object{"periodSeconds": 1, "timeoutSeconds": 10, "failureThreshold": 1}
	maps.Copy(readiness, probe)
	startup := maps.Clone(readiness)
	startup["failureThreshold"] = 60
	container := object{"name": "my-app", "image": image, "startupProbe": startup, "readinessProbe": readiness}
	var pods []running
	for i := range n {
		pods = append(pods, s.run(object{
			"apiVersion": "v1",
			"kind":       "Pod",
			"metadata":   object{"name": fmt.Sprintf("many-%d", i)},
			"spec":       object{"containers": []object{container}},
		}))
	}
	for _, pod := range pods {
		pod.untilReady()
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
