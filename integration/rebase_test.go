package integration

import (
	"slices"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// TestRebase puts an image onto a newer run image: the probe's layers are the same, and the probe works.
func TestRebase(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	load := func(release string) string {
		return must(platform.LoadRun(t.Context(), "run-released", map[string]string{"etc/release": release}))(t)
	}
	build := harness.Build{Name: "rebased", App: must(sample())(t), Env: []string{argsEnv + "-addr=localhost:5000"}}
	image := must(platform.PackBuild(t.Context(), build, "--run-image", load("1"), "-b", "from=builder", "-b",
		folder()))(t)
	load("2")
	log := must(platform.Pack(t.Context(), "rebase", image.Ref, "--pull-policy", "never"))(t)

	rebased := must(platform.Image(t.Context(), image.Ref, log))(t)
	wantEqual(t, rebased, "releases of the run image", string(must(rebased.ReadFile("/etc/release"))(t)), "2")
	layers := ourLayers(t, rebased)
	wantEqual(t, rebased, "layers", layers, ourLayers(t, image))
	var all []string
	for _, id := range diffIDs(t, rebased) {
		all = append(all, id.String())
	}
	for _, layer := range []string{"probe", "config"} {
		if !slices.Contains(all, layers[layer]) {
			t.Errorf("the rebased image has no layer %q, the %s: %v\n%s", layers[layer], layer, all, log)
		}
	}
	wantExit(t, serve(t, platform, rebased), 0, harness.ProbePath)
}
