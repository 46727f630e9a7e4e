package integration

import (
	"context"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// TestCompiledProbe compiles the probe in a build without a network, with the Go of another buildpack in the group,
// which the plan asks for; a second build makes the same of the cache.
func TestCompiledProbe(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	build := func() *harness.Image {
		return must(platform.PackBuild(t.Context(),
			harness.Build{Name: "compiled", App: must(sample())(t), Env: compile}, withGo(t)...))(t)
	}
	first := build()
	wantServing(t, platform, first)
	wantInLog(t, first, "Compiling the lean probe for linux/"+arch)
	text := must(first.Label(buildpackLabel))(t)
	if want := `"source":"compile"`; !strings.Contains(text, want) {
		t.Errorf("the label has no %s: %s", want, text)
	}
	// Go and what it compiled stay out of the image.
	if layers := ourLayers(t, first); len(layers) != 2 || layers["probe"] == "" || layers["config"] == "" {
		t.Errorf("layers are %v, want those of the probe and of its default port", layers)
	}
	second := build()
	wantEqual(t, second, "layers", ourLayers(t, second), ourLayers(t, first))
}

// TestCompiledProbeForAnotherBuildpack has an app without gRPC and a buildpack that requires the probe anyway:
// then too it is compiled with the Go of a buildpack in the group.
func TestCompiledProbeForAnotherBuildpack(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	requirer := must(fixture.TestBuildpack(t.Context(), "requirer"))(t)
	build := harness.Build{Name: "compiled-asked", App: appWithoutGRPC(t), Env: compile}
	image := must(platform.PackBuild(t.Context(), build, append(withGo(t), "-b", requirer)...))(t)
	wantInLog(t, image, "Compiling the lean probe for linux/"+arch)
	wantProbe(t, image, true)
}

// TestCompilingNeedsGo names the buildpack with -b, in a group without Go: the build says what is missing.
func TestCompilingNeedsGo(t *testing.T) {
	t.Parallel()
	needDocker(t)
	build := harness.Build{Name: "compiled-without", App: must(sample())(t), Buildpack: folder(), Env: compile}
	_, err := must(docker())(t).Build(t.Context(), build)
	wantBuildError(t, err, noGo)
}

// compile is the environment of a build that compiles the probe.
var compile = []string{"BP_GRPC_HEALTH_PROBE_SOURCE=compile"}

// withGo are the flags of pack for a build without a network, with a buildpack that provides this machine's Go before
// the one under test.
func withGo(t *testing.T) []string {
	t.Helper()
	goroot := strings.TrimSpace(string(must(exec.Command("go", "env", "GOROOT").Output())(t)))
	return []string{
		"--network", "none", "--volume", goroot + ":/opt/go:ro", "-b", "from=builder", "-b",
		must(golang())(t), "-b", folder(),
	}
}

var golang = sync.OnceValues(func() (string, error) { return fixture.TestBuildpack(context.Background(), "golang") })
