package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// against is the program that the probe is compared with: its name, "=", and its path. Without it nothing is compared.
var against = os.Getenv("UPDATE_BENCHMARKS")

const (
	// comparedImage is the app with the bridge, and beside it the programs that the probe is compared with.
	comparedImage = "registry.example.com/compared:1.0.0"
	// comparedPods is how many pods are probed.
	comparedPods = 80
	// comparedSpan is for how long.
	comparedSpan = 45 * time.Second
	// comparedRounds is how often everything is measured.
	comparedRounds = 2
)

// bridgeVariable says whether the launcher is to start the bridge in a container.
const bridgeVariable = "GRPC_HEALTH_BRIDGE_BACKGROUND"

// pushCompared makes the image: programs that are executed in a container have to be in it. Its launcher starts the
// bridge if a container says so.
func pushCompared(ctx context.Context) error {
	app, err := fixture.StageSample(ctx, nil)
	if err != nil {
		return err
	}
	built, err := docker.Build(ctx, harness.Build{
		Name: "compared", App: app, Buildpack: fixture.Dist("buildpack"),
		Env: []string{"BP_GRPC_HEALTH_PROBE_BRIDGE=launch"},
	})
	if err != nil {
		return err
	}
	_, path, _ := strings.Cut(against, "=")
	program, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	folder, err := fixture.Stage(map[string]string{"compared/upstream": string(program)})
	if err == nil {
		err = os.Chmod(filepath.Join(folder, "compared/upstream"), 0o755)
	}
	if err != nil {
		return err
	}
	other, err := harness.FolderImage(folder)
	if err != nil {
		return err
	}
	empty, err := fixture.ProgramImage(ctx, "probe/bench/empty")
	if err != nil {
		return err
	}
	image := built.Image
	for _, from := range []v1.Image{other, empty} {
		layers, err := from.Layers()
		if err != nil {
			return err
		}
		if image, err = mutate.AppendLayers(image, layers...); err != nil {
			return err
		}
	}
	if image, err = withVariable(image, bridgeVariable+"=false"); err != nil {
		return err
	}
	return cluster.Push(ctx, comparedImage, image)
}

// withVariable is an image with another variable in its environment.
func withVariable(image v1.Image, variable string) (v1.Image, error) {
	file, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("reading an image's configuration: %w", err)
	}
	config := file.Config
	config.Env = append(slices.Clone(config.Env), variable)
	return mutate.Config(image, config)
}

// check is a way to ask an app for its health.
type check struct {
	title string
	idle  string // the title of the same pods without a probe; empty if there is none
	pod   object
	port  int // what is asked natively; 0 for a program that is executed
}

// checks are those that are compared. Exec probes have a longer period: more of them would take the whole machine.
func checks(t *testing.T) []check {
	t.Helper()
	name, _, _ := strings.Cut(against, "=")
	native := func(port int) object { return object{"grpc": object{"port": port}} }
	exec := func(title string, probe object) check {
		return check{title, alone, probed(comparedImage, probe, 8), 0}
	}
	return []check{
		{alone, "", probed(comparedImage, nil, 0), 5000},
		{withBridge, "", withTheBridge(t, nil), 8086},
		{"native", alone, probed(comparedImage, native(5000), 1), 0},
		{"native, of the bridge, which asks over verified TLS", withBridge, withTheBridge(t, native(8086)), 0},
		exec("exec of an empty Go program", execOf("/program")),
		exec("exec of the probe", execProbe),
		exec("exec of "+name, execOf("/compared/upstream", "-addr=localhost:5000", "-connect-timeout=4s",
			"-rpc-timeout=4s")),
	}
}

// The pods that no probe asks.
const (
	alone      = "none"
	withBridge = "none, with the bridge"
)

// withTheBridge is the pod of the example, with a readiness probe each second or none.
func withTheBridge(t *testing.T, probe object) object {
	t.Helper()
	return example(t, "bridge.yaml", func(pod object) {
		for _, container := range []object{app(pod), sidecar(pod)} {
			container["image"] = comparedImage
		}
		for _, kind := range []string{"startupProbe", "readinessProbe", "livenessProbe"} {
			delete(app(pod), kind)
		}
		setProbe(app(pod), probe, 1)
	})
}

// round is what one measurement found.
type round struct {
	probes                 int
	duration               time.Duration // of all probes
	system, pods, measured time.Duration // CPU time, and the time in which it was used
	answer                 time.Duration // the median, when asked anew; zero if nothing is asked natively
	memory                 float64       // of one bridge, in bytes
}

// TestCompare makes the sections of docs/benchmarks.txt about a node.
func TestCompare(t *testing.T) {
	if against == "" {
		t.Skip("left out: it is run by hand, with UPDATE_BENCHMARKS='NAME VERSION=/path/to/grpc_health_probe'")
	}
	t.Run("checks", compareChecks)
	t.Run("pods", comparePods)
}

// compareChecks makes the section about what checks of each kind cost, beside what the pods cost anyway.
func compareChecks(t *testing.T) {
	found := map[string][]round{}
	for range comparedRounds {
		all := checks(t)
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, c := range all {
			if !t.Run(c.title, func(t *testing.T) {
				found[c.title] = append(found[c.title], c.measure(t))
			}) {
				return
			}
			untilPods(t, 0)
		}
	}
	writeSection(t, "On a node", report(t, checks(t), found))
}

// untilPods waits until there are so many pods, and those of the tests before are gone.
func untilPods(t *testing.T, count int) {
	t.Helper()
	poll(t, fmt.Sprintf("all pods to be gone except %d", count), func(ctx context.Context) (bool, error) {
		var list struct{ Items []Pod }
		err := cluster.Read(ctx, "/api/v1/pods", &list)
		return err == nil && len(list.Items) == count, err
	})
}

func (c check) measure(t *testing.T) round {
	t.Helper()
	s := newSpace(t)
	s.addSecrets()
	pods := s.runMany(comparedPods, "compared", c.pod)
	for _, pod := range pods {
		pod.untilReady()
	}
	start := measure(t, pods)
	pollEvery(t, time.Second, "the time to be over", func(context.Context) (bool, error) {
		return time.Since(start.at) >= comparedSpan, nil
	})
	end := measure(t, pods)
	s.wantNoFailure(pods)
	r := round{
		probes: end.passed - start.passed, duration: end.duration - start.duration, measured: end.at.Sub(start.at),
		system: end.system - start.system, pods: end.pods - start.pods,
	}
	if c.idle == "" {
		r.answer = askAnew(t, pods, c.port)
	} else if r.probes == 0 {
		t.Error("no probe was made")
	}
	n := 0
	each(t, pods, "/metrics/resource", "container_memory_working_set_bytes", func(s sample) {
		if s.labels["container"] == "health-bridge" {
			r.memory += s.value
			n++
		}
	})
	r.memory /= float64(max(n, 1))
	return r
}

// askAnew is the median time of a check on a connection of its own, as the kubelet makes it.
func askAnew(t *testing.T, pods []running, port int) time.Duration {
	t.Helper()
	var times []time.Duration
	for range 5 {
		for _, pod := range pods {
			got := pod.until("there", func(p Pod) bool { return p.Status.PodIP != "" })
			begin := time.Now()
			if _, err := callAnew(t, fmt.Sprintf("%s:%d", got.Status.PodIP, port)); err != nil {
				t.Fatal(err)
			}
			times = append(times, time.Since(begin))
		}
	}
	return median(times)
}

// median is the middle one of the times.
func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// cost is what one probe costs, in the mean.
type cost struct {
	probes                       int
	duration, pods, system, node time.Duration
	least, most                  time.Duration // of the node, in one round
}

// costOf takes what the same pods use without a probe from what they use with it.
func costOf(rounds, idle []round) (c cost) {
	var none round
	for _, r := range idle {
		none.system += r.system
		none.pods += r.pods
		none.measured += r.measured
	}
	for i, r := range rounds {
		part := r.measured.Seconds() / none.measured.Seconds()
		system := (r.system - time.Duration(float64(none.system)*part)) / time.Duration(r.probes)
		pods := (r.pods - time.Duration(float64(none.pods)*part)) / time.Duration(r.probes)
		node, n := system+pods, time.Duration(len(rounds))
		c.probes += r.probes
		c.duration += r.duration / time.Duration(r.probes) / n
		c.system += system / n
		c.pods += pods / n
		c.node += node / n
		c.most = max(c.most, node)
		if c.least = min(c.least, node); i == 0 {
			c.least = node
		}
	}
	return c
}
