package integration

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// TestCompiledProbe compiles the probe in a build without a network, with the Go of another buildpack in the group, which
// the plan asks for; a second build makes the same of the cache.
func TestCompiledProbe(t *testing.T) {
	t.Parallel()
	needDocker(t)
	road := must(docker())(t)
	golang := must(kit.TestBuildpack(t.Context(), "golang"))(t)
	goroot := strings.TrimSpace(string(must(exec.Command("go", "env", "GOROOT").Output())(t)))
	build := func() *harness.Image {
		return must(road.PackBuild(t.Context(), harness.Build{
			Name: "compiled", App: must(sample())(t), Env: []string{"BP_GRPC_HEALTH_PROBE_SOURCE=compile"},
		}, "--network", "none", "--volume", goroot+":/opt/go:ro", "-b", "from=builder", "-b", golang, "-b", folder()))(t)
	}
	first := build()
	wantServing(t, road, first)
	if want := "Compiling the lean probe for linux/" + arch; !strings.Contains(first.Log, want) {
		t.Errorf("the log has no %q:\n%s", want, first.Log)
	}
	text := must(first.Label("io.github.grpc-cnb.health-probe"))(t)
	if want := `"source":"compile"`; !strings.Contains(text, want) {
		t.Errorf("the label has no %s: %s", want, text)
	}
	if layers := ourLayers(t, first); len(layers) != 1 {
		t.Errorf("layers are %v, want the probe's alone", layers)
	}
	second := build()
	wantEqual(t, second, "layers", ourLayers(t, second), ourLayers(t, first))
}
