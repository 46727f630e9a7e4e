package cluster

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

const benchmarks = "../../docs/benchmarks.txt"

// writeSection replaces a section of docs/benchmarks.txt.
func writeSection(t *testing.T, title, section string) {
	t.Helper()
	text, err := os.ReadFile(benchmarks)
	if err != nil {
		t.Fatal(err)
	}
	heading := "\n## " + title + "\n"
	before, rest, _ := strings.Cut(string(text), heading)
	_, after, isFollowed := strings.Cut(rest, "\n## ")
	if isFollowed {
		after = "\n## " + after
	}
	if err := os.WriteFile(benchmarks, []byte(before+heading+section+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// versions are those of Kubernetes and of the container runtime.
func versions(t *testing.T) (kubernetes, containers string) {
	t.Helper()
	var node struct {
		Status struct {
			NodeInfo struct{ KubeletVersion, ContainerRuntimeVersion string }
		}
	}
	if err := cluster.Read(t.Context(), "/api/v1/nodes/"+NodeName, &node); err != nil {
		t.Fatal(err)
	}
	info := node.Status.NodeInfo
	return info.KubeletVersion, strings.ReplaceAll(info.ContainerRuntimeVersion, "://", " ")
}

// report is the section, in Markdown.
func report(t *testing.T, all []check, found map[string][]round) string {
	var costs, nodes, anew strings.Builder
	for _, c := range all {
		if c.idle == "" {
			var times []time.Duration
			for _, r := range found[c.title] {
				times = append(times, r.answer)
			}
			fmt.Fprintf(&anew, "| %s | %s |\n", map[int]string{5000: "server", 8086: "bridge"}[c.port],
				ms(median(times)))
			continue
		}
		k := costOf(found[c.title], found[c.idle])
		fmt.Fprintf(&costs, "| %s | %d | %s | %s | %s | %s (%s to %s) |\n", c.title, k.probes, ms(k.duration),
			ms(k.pods), ms(k.system), ms(k.node), ms(k.least), ms(k.most))
		processors := float64(fullNode) / defaultPeriod * k.node.Seconds()
		fmt.Fprintf(&nodes, "| %s | %.3f | %.0f |\n", c.title, processors, 1000*processors)
	}
	memory := found[withBridge][0].memory / 1e6
	kubernetes, containers := versions(t)
	return fmt.Sprintf(section, runtime.GOARCH, runtime.GOMAXPROCS(0), kubernetes, containers, comparedRounds,
		comparedPods, int(comparedSpan.Seconds()), costs.String(), fullNode, defaultPeriod, nodes.String(),
		anew.String(), memory)
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1000) }

const section = `
Made by ` + "`TestCompare/checks`" + ` of integration/cluster on
linux/%s, %d processors, on a cluster of Kubernetes %s with %s.

%d times, in random order, %d pods were checked for %d seconds in each of these ways: natively every second, by exec
every eight seconds. No check failed. A figure is the mean of one check. The duration is the kubelet's own
(prober_probe_duration_seconds). CPU times are of cgroups: that of the pods, which has the app, the bridge, the programs
of the checks and the part of runc that becomes them; and that of the kubelet, kube-proxy and containerd with what they
start. The figures leave out what the same pods used without a check. The range follows the node's CPU time. The kubelet
does the same for both kinds of native checks: in its column, they differ only by the noise of the measurement.

| check | checks | duration | CPU, pods | CPU, kubelet and runtime | CPU, node |
| --- | ---: | ---: | ---: | ---: | ---: |
%s
On paper: processors for a node of %d pods, of which each is checked every %d seconds, and for a thousand such nodes. A
bridge makes a new connection to its server each minute: for every sixth of these checks, and for every sixtieth of
those above.

| check | a node | a thousand nodes |
| --- | ---: | ---: |
%s
How long a check takes on a connection of its own from the node, without a kubelet: the median.

| asked | duration |
| --- | ---: |
%s
A bridge takes %.1f MB of the pod's memory (container_memory_working_set_bytes, the mean).
`
