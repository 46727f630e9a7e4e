package cluster

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// measured is what the node and the kubelet's metrics say of pods at one time.
type measured struct {
	at           time.Time
	passed       int               // probes, of all pods
	least        int               // probes, of the pod with the fewest
	duration     time.Duration     // of all probes that passed
	containers   map[string]sample // CPU time of the pods' containers, in seconds, and when it was read
	system, node time.Duration     // CPU time of kubelet, kube-proxy, containerd and runc, and with the pods'
}

func measure(t *testing.T, pods []running) measured {
	t.Helper()
	m := measured{at: time.Now(), containers: map[string]sample{}}
	m.passed, m.least = passed(t, pods)
	each(t, pods, "/metrics/probes", "prober_probe_duration_seconds_sum", func(s sample) {
		m.duration += time.Duration(s.value * float64(time.Second))
	})
	each(t, pods, "/metrics/resource", "container_cpu_usage_seconds_total", func(s sample) {
		m.containers[s.labels["pod"]] = s
	})
	for name, used := range map[string]*time.Duration{SystemGroup: &m.system, PodsGroup: &m.node} {
		var err error
		if *used, err = cluster.CPU(name); err != nil {
			t.Fatal(err)
		}
	}
	m.node += m.system
	return m
}

// passed is how many probes have passed, of all the pods, and of the one with the fewest.
func passed(t *testing.T, pods []running) (all, least int) {
	t.Helper()
	least = math.MaxInt
	each(t, pods, "/metrics/probes", "prober_probe_total", func(s sample) {
		if s.labels["result"] == "successful" {
			all += int(s.value)
			least = min(least, int(s.value))
		}
	})
	return all, least
}

// each visits the values of a metric for pods, and for their readiness probes where it is one of probes.
func each(t *testing.T, pods []running, path, metric string, visit func(sample)) {
	t.Helper()
	text, err := cluster.Metrics(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, pod := range pods {
		names[pod.space.name+"/"+pod.name] = true
	}
	for s := range samples(text, metric) {
		kind, name := s.labels["probe_type"], s.labels["namespace"]+"/"+s.labels["pod"]
		if names[name] && (kind == "" || kind == "Readiness") {
			visit(s)
		}
	}
}

// cost is what one probe costs, in the mean.
type cost struct {
	probes                            int // that it is the mean of
	duration, container, system, node time.Duration
}

// since is the cost of the probes between two times.
func (m measured) since(start measured) cost {
	probes := m.passed - start.passed
	each := func(d time.Duration) time.Duration { return d / time.Duration(probes) }
	// The kubelet reads the containers' CPU time when it likes: what counts is the rate.
	var rate float64
	for pod, now := range m.containers {
		before := start.containers[pod]
		if span := now.at.Sub(before.at); span > 0 {
			rate += (now.value - before.value) / span.Seconds()
		}
	}
	return cost{
		probes:    probes,
		duration:  each(m.duration - start.duration),
		container: each(time.Duration(rate * float64(m.at.Sub(start.at)))),
		system:    each(m.system - start.system),
		node:      each(m.node - start.node),
	}
}

// costTable is the costs in Markdown.
func costTable(pods int, costs []cost) string {
	var table strings.Builder
	table.WriteString("| probe | pods | probes | failed | duration | CPU, container | CPU, kubelet and runtime | " +
		"CPU, node |\n")
	table.WriteString("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1000) }
	for i, c := range costs {
		fmt.Fprintf(&table, "| %s | %d | %d | 0 | %s | %s | %s | %s |\n",
			compared[i].title, pods, c.probes, ms(c.duration), ms(c.container), ms(c.system), ms(c.node))
	}
	return table.String()
}

// writeSection replaces the last section of docs/benchmarks.md, or adds it.
func writeSection(t *testing.T, table string) {
	t.Helper()
	text, err := os.ReadFile(benchmarks)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), heading)
	section := fmt.Sprintf(section,
		runtime.GOARCH, runtime.GOMAXPROCS(0), version(t, "containerd"), version(t, "runc"), table, capabilities)
	if err := os.WriteFile(benchmarks, []byte(before+heading+section), 0o644); err != nil {
		t.Fatal(err)
	}
}

// version is what a program says of its version.
func version(t *testing.T, program string) string {
	t.Helper()
	out, err := exec.Command(program, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`\d+\.\d+\.\d+`).FindString(string(out))
}

const (
	benchmarks = "../../docs/benchmarks.md"
	heading    = "\n## On a node\n"
)

const section = `
Made by ` + "`UPDATE_BENCHMARKS=1 go -C integration test -run TestManyPods -count=1 ./cluster`" +
	` on linux/%s, %d processors,
on a cluster of Kubernetes 1.36 with containerd %s and runc %s. As many pods as that carries are probed every
second, and no probe fails. All figures are means of one probe. The duration is the kubelet's own
(prober_probe_duration_seconds), and so is the container's CPU time (container_cpu_usage_seconds_total): of the probe,
of the part of runc that becomes it, and of the app's answer. The next column is what starting a process in a container
takes, whichever it is; the last is all that the node does. CPU times are much the same from run to run. Durations are
not: so many pods keep half of the processors busy, and how long a probe waits for others depends on how their starts
fall together.

%s
Kubernetes' own probe starts nothing, and can do less:

%s`
