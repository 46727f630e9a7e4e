package cluster

import (
	"context"
	"fmt"
	"iter"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// Metrics returns what the kubelet has at a path of its read-only port, such as /metrics/probes.
func (c *Cluster) Metrics(ctx context.Context, path string) ([]byte, error) {
	return c.HTTP(ctx, fmt.Sprintf("http://%s%s", net.JoinHostPort(Address, strconv.Itoa(readOnlyPort)), path))
}

// Sandboxes returns how many sandboxes of pods containerd has, with those of pods that are gone: the kubelet removes
// these once a minute (its GarbageCollect of containers).
func (c *Cluster) Sandboxes() (int, error) {
	root := filepath.Join("/proc", strconv.Itoa(c.init), "root", c.folder, "containerd")
	found, err := os.ReadDir(filepath.Join(root, "io.containerd.grpc.v1.cri", "sandboxes"))
	if err != nil {
		return 0, fmt.Errorf("reading the sandboxes of pods: %w", err)
	}
	return len(found), nil
}

// Probes says how often a pod's probe (Startup, Readiness, Liveness) had each result: prober_probe_total, by its label
// result (successful, failed).
func (c *Cluster) Probes(ctx context.Context, namespace, pod, kind string) (map[string]int, error) {
	text, err := c.Metrics(ctx, "/metrics/probes")
	results := map[string]int{}
	for s := range samples(text, "prober_probe_total") {
		if s.labels["namespace"] == namespace && s.labels["pod"] == pod && s.labels["probe_type"] == kind {
			results[s.labels["result"]] += int(s.value)
		}
	}
	return results, err
}

// sample is one value of a metric.
type sample struct {
	labels map[string]string
	value  float64
	at     time.Time // zero if the metric does not say
}

var (
	line  = regexp.MustCompile(`(?m)^([a-z_]+)\{(.*)\} (\S+)(?: (\d+))?$`)
	label = regexp.MustCompile(`([a-z_]+)="((?:[^"\\]|\\.)*)"`)
)

// samples are the values of a metric in Prometheus' text format (version 0.0.4).
func samples(text []byte, metric string) iter.Seq[sample] {
	return func(yield func(sample) bool) {
		for _, m := range line.FindAllSubmatch(text, -1) {
			if string(m[1]) != metric {
				continue
			}
			s := sample{labels: map[string]string{}}
			var err error
			if s.value, err = strconv.ParseFloat(string(m[3]), 64); err != nil {
				continue
			}
			if ms, err := strconv.ParseInt(string(m[4]), 10, 64); err == nil {
				s.at = time.UnixMilli(ms)
			}
			for _, l := range label.FindAllSubmatch(m[2], -1) {
				s.labels[string(l[1])] = string(l[2])
			}
			if !yield(s) {
				return
			}
		}
	}
}
