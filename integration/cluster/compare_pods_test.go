package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

const (
	// waysPods is how many pods are asked for their health at a time, and waysSpan for how long: twice the longest
	// period, so that each pod is asked as often as the others.
	waysPods, waysSpan = 30, 20 * time.Second
	// waysPause is for what the node still does for pods that have just started, or are just gone: after 3 seconds it
	// shows in figures.
	waysPause = 8 * time.Second
	// waysRounds is how often everything is measured, unless $COMPARE_ROUNDS says otherwise.
	waysRounds = 3
)

// way is how the pods of a node are asked for their health.
type way struct {
	title string
	// isAsked says that a probe asks them at a period, and isPlain that they are measured in plain text alone: native
	// probes verify nothing, and a bridge that nobody asks makes no connection.
	isAsked, isPlain bool
	// in changes a pod without a probe, with the flags that lead to the server.
	in func(pod object, flags []string, period int)
}

// ways are those that are compared, the first one being none.
var ways = []way{
	{"no probe", false, false, func(object, []string, int) {}},
	{"native", true, true, func(pod object, _ []string, period int) {
		setProbe(app(pod), object{"grpc": object{"port": 5000}}, period)
	}},
	{"bridge as a sidecar, idle", false, true, func(pod object, flags []string, _ int) { addSidecar(pod, flags) }},
	{"bridge as a sidecar", true, false, func(pod object, flags []string, period int) {
		addSidecar(pod, flags)
		setProbe(app(pod), object{"grpc": object{"port": 8086}}, period)
	}},
	{"bridge in the app's container, idle", false, true, func(pod object, flags []string, _ int) {
		launchBridge(pod, flags)
	}},
	{"bridge in the app's container", true, false, func(pod object, flags []string, period int) {
		launchBridge(pod, flags)
		setProbe(app(pod), object{"grpc": object{"port": 8086}}, period)
	}},
	{"exec of the probe", true, false, func(pod object, flags []string, period int) {
		setProbe(app(pod), execOf(append([]string{harness.ProbePath}, flags...)...), period)
	}},
}

// addSidecar gives a pod the bridge in a container of its own.
func addSidecar(pod object, flags []string) {
	pod["spec"].(object)["initContainers"] = []any{object{
		"name": "health-bridge", "image": comparedImage, "restartPolicy": "Always",
		"command":      append([]string{strings.Replace(harness.ProbePath, "_probe", "_bridge", 1)}, flags...),
		"volumeMounts": app(pod)["volumeMounts"],
	}}
}

// launchBridge has the launcher start the bridge in the app's container.
func launchBridge(pod object, flags []string) {
	env := []object{{"name": bridgeVariable, "value": "true"}}
	for _, flag := range flags {
		name, value, hasValue := strings.Cut(strings.TrimPrefix(flag, "-"), "=")
		if !hasValue {
			value = "true"
		}
		name = "GRPC_HEALTH_PROBE_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		env = append(env, object{"name": name, "value": value})
	}
	app(pod)["env"] = env
}

// setting is what a way is measured in.
type setting struct {
	way    int
	isMTLS bool
	period int // in seconds; 0 for a way without a probe
}

// waySettings are all that make sense, in random order, but so that the columns of the table take turns: what keeps the
// machine busy for a while is not in one of them alone.
func waySettings() (all []setting) {
	for i, w := range ways {
		for _, isMTLS := range []bool{false, true} {
			switch {
			case isMTLS && w.isPlain:
			case w.isAsked:
				all = append(all, setting{i, isMTLS, 2}, setting{i, isMTLS, 10})
			default:
				all = append(all, setting{i, isMTLS, 0})
			}
		}
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	turns, sizes := map[setting]int{}, map[setting]int{}
	for _, s := range all {
		column := setting{0, s.isMTLS, s.period}
		turns[s] = sizes[column]
		sizes[column]++
	}
	slices.SortStableFunc(all, func(a, b setting) int { return turns[a] - turns[b] })
	return all
}

// pod is a pod for a setting. Whatever asks has time: a busy machine is late now and then.
func (s setting) pod(t *testing.T) object {
	t.Helper()
	flags := []string{"-addr=localhost:5000", "-timeout=8s"}
	file := "native.yaml"
	if s.isMTLS {
		file = "mtls.yaml"
		flags = append(flags, "-tls", "-tls-ca-cert=/tls/ca.crt", "-tls-client-cert=/probe-tls/tls.crt",
			"-tls-client-key=/probe-tls/tls.key", "-tls-server-name="+serverName)
	}
	return example(t, file, named("way"), func(pod object) {
		for _, kind := range []string{"startupProbe", "readinessProbe", "livenessProbe"} {
			delete(app(pod), kind)
		}
		app(pod)["image"] = comparedImage
		ways[s.way].in(pod, flags, s.period)
	})
}

// usage is what one pod used in one measurement: CPU time of the node, in milliseconds per second, and anonymous memory
// of the node, in MB.
type usage struct{ cpu, memory float64 }

// comparePods makes the section about what a pod costs its node, with all that belongs to the way it is asked.
func comparePods(t *testing.T) {
	rounds := waysRounds
	if text := os.Getenv("COMPARE_ROUNDS"); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	found := map[setting][]usage{}
	for n := range rounds {
		for _, s := range waySettings() {
			title := fmt.Sprintf("%d/%s, mTLS %t, period %d", n, ways[s.way].title, s.isMTLS, s.period)
			if !t.Run(title, func(t *testing.T) {
				u := s.measure(t)
				t.Logf("%s: %+v", title, u)
				found[s] = append(found[s], u)
			}) {
				return
			}
		}
		writeSection(t, "What a pod costs its node", waysReport(t, found)) // so nothing is lost if the next round fails
	}
}

// measure runs pods in a setting, and counts what the node uses for a while. The pods of the setting before may still
// be ending when these start, but nothing of them is left when it counts: to remove what is costs the kubelet as much
// as all that is measured.
func (s setting) measure(t *testing.T) usage {
	t.Helper()
	in := newSpace(t)
	in.addSecrets()
	pods := in.runMany(waysPods, "way", s.pod(t))
	for _, pod := range pods {
		pod.untilReady()
	}
	untilPods(t, waysPods)
	poll(t, "the sandboxes of the pods before to be removed", func(context.Context) (bool, error) {
		n, err := cluster.Sandboxes()
		return n == waysPods, err
	})
	pass(t, time.Now().Add(waysPause))
	start := measure(t, pods)
	pass(t, start.at.Add(waysSpan))
	end := measure(t, pods)
	if in.wantNoFailure(pods); s.period > 0 && end.passed == start.passed {
		t.Error("no probe was made")
	}
	u := usage{cpu: (end.node() - start.node()).Seconds() * 1000 / end.at.Sub(start.at).Seconds() / waysPods}
	for _, group := range []string{SystemGroup, PodsGroup} {
		memory, err := cluster.Anonymous(group)
		if err != nil {
			t.Fatal(err)
		}
		u.memory += float64(memory) / 1e6 / waysPods
	}
	return u
}

// pass lets time pass, until then.
func pass(t *testing.T, then time.Time) {
	t.Helper()
	select {
	case <-cluster.Ended():
		t.Fatalf("the cluster has ended: %v", cluster.Err())
	case <-time.After(time.Until(then)):
	}
}

func (u usage) ofCPU() float64    { return u.cpu }
func (u usage) ofMemory() float64 { return u.memory }

// sorted are the values of what was found, the least first.
func sorted(all []usage, value func(usage) float64) (values []float64) {
	for _, u := range all {
		values = append(values, value(u))
	}
	slices.Sort(values)
	return values
}

// middle is the median of sorted values.
func middle(values []float64) float64 {
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// waysReport is the section, in Markdown.
func waysReport(t *testing.T, found map[setting][]usage) string {
	t.Helper()
	var cpu, memory strings.Builder
	rounds := 0
	for i, w := range ways {
		of := func(isMTLS bool, period int) []usage {
			if !w.isAsked {
				period = 0
			}
			return found[setting{i, isMTLS, period}]
		}
		fmt.Fprintf(&cpu, "| %s |", w.title)
		fmt.Fprintf(&memory, "| %s |", w.title)
		for _, isMTLS := range []bool{false, true} {
			missing := " not measured |" // if -run has left it out
			if isMTLS && w.isPlain {
				missing = " - |"
			}
			cpu.WriteString(cpuCell(of(isMTLS, 2), missing) + cpuCell(of(isMTLS, 10), missing))
			memory.WriteString(memoryCell(of(isMTLS, 2), found[setting{0, isMTLS, 0}], missing))
			rounds = max(rounds, len(of(isMTLS, 2)))
		}
		cpu.WriteString("\n")
		memory.WriteString("\n")
	}
	kubernetes, containers := versions(t)
	return fmt.Sprintf(waysSection, runtime.GOARCH, runtime.GOMAXPROCS(0), kubernetes, containers, rounds, waysPods,
		int(waysSpan.Seconds()), cpu.String(), memory.String())
}

// cpuCell is the median of the CPU time, and its range.
func cpuCell(all []usage, missing string) string {
	if len(all) == 0 {
		return missing
	}
	values := sorted(all, usage.ofCPU)
	return fmt.Sprintf(" %.1f (%.1f to %.1f) |", middle(values), values[0], values[len(values)-1])
}

// memoryCell is the median of the memory beyond that of pods without a probe.
func memoryCell(all, none []usage, missing string) string {
	if len(all) == 0 || len(none) == 0 {
		return missing
	}
	return fmt.Sprintf(" %.1f MB |", middle(sorted(all, usage.ofMemory))-middle(sorted(none, usage.ofMemory)))
}

const waysSection = `
Made by ` + "`TestCompare/pods`" + ` of integration/cluster on
linux/%s, %d processors, on a cluster of Kubernetes %s with %s.

A pod has a container with the app, and whatever the kind of probe adds: a sidecar is one more container, which the
kubelet and containerd work for even if nobody asks it. %d times, in random order, %d pods ran for %d seconds in each
way. No check failed. A figure is the CPU time of the node, without the control plane, in milliseconds per pod and
second: the median, followed by the range. A pod that nobody asks has no period, and a bridge that nobody asks makes no
connection: each of them was measured once per round.

| way | plain text, each 2 s | plain text, each 10 s | mTLS, each 2 s | mTLS, each 10 s |
| --- | ---: | ---: | ---: | ---: |
%s
This is the memory of the node that a pod takes beyond the same pod without a probe: what is in no file, of the pods,
the kubelet and containerd. All pods of an image share the program's pages, which come on top once.

| way | plain text | mTLS |
| --- | ---: | ---: |
%s`
