package cluster

import (
	"math"
	"testing"
	"time"
)

// measured is what the node's cgroups and the kubelet's metrics say of pods at one time.
type measured struct {
	at           time.Time
	passed       int           // probes, of all pods
	duration     time.Duration // of all probes that passed
	system, pods time.Duration // CPU time of kubelet, kube-proxy, containerd and runc, and of the pods
}

func measure(t *testing.T, pods []running) measured {
	t.Helper()
	m := measured{at: time.Now()}
	m.passed, _ = passed(t, pods)
	each(t, pods, "/metrics/probes", "prober_probe_duration_seconds_sum", func(s sample) {
		m.duration += time.Duration(s.value * float64(time.Second))
	})
	for name, used := range map[string]*time.Duration{SystemGroup: &m.system, PodsGroup: &m.pods} {
		var err error
		if *used, err = cluster.CPU(name); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// node is the CPU time of the node, without the control plane, which is on another machine elsewhere.
func (m measured) node() time.Duration {
	return m.system + m.pods
}

// passed is how many probes have passed, of all the pods, and of the one with the fewest.
func passed(t *testing.T, pods []running) (all, least int) {
	t.Helper()
	counts := map[string]int{}
	each(t, pods, "/metrics/probes", "prober_probe_total", func(s sample) {
		if s.labels["result"] == "successful" {
			counts[s.labels["pod"]] += int(s.value)
		}
	})
	least = math.MaxInt
	for _, pod := range pods {
		all += counts[pod.name]
		least = min(least, counts[pod.name])
	}
	return all, least
}

// each visits the values of a metric for pods, and for their readiness probes if it is one of probes.
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
