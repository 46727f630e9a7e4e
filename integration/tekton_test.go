package integration

import "testing"

// TestTektonTask builds as the Task buildpacks 0.6 of the Tekton catalog does: no pack, the builder's creator at Platform
// API 0.9, straight into a registry.
func TestTektonTask(t *testing.T) {
	t.Parallel()
	needDocker(t)
	road := must(dockerOptional())(t)
	registry, run := registryWithRun(t, road)
	platform := must(kit.Stage(map[string]string{"env/BP_GRPC_HEALTH_PROBE_ARGS": "-addr=localhost:5000"}))(t)
	ref := registry.Name("app")
	log := must(road.Once(t.Context(), road.Name("builder"), []string{
		"--network", "host", "--env", "CNB_PLATFORM_API=0.9",
		"--volume", must(sample())(t) + ":/workspace/source:ro", "--volume", platform + ":/platform:ro",
	}, "/cnb/lifecycle/creator", "-app=/workspace/source", "-uid=1000", "-gid=1000", "-layers=/layers",
		"-platform=/platform", "-report=/layers/report.toml", "-process-type=web",
		"-previous-image="+ref, "-run-image="+run, ref))(t)
	image := must(registry.Pull(ref, log))(t)
	want := map[string]bool{"probe": true, "config": true}
	for layer := range ourLayers(t, image) {
		delete(want, layer)
	}
	wantEqual(t, image, "missing layers", want, map[string]bool{})
	wantServing(t, must(phases())(t), image)
}
