package integration

import (
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestTektonTask builds as the Task buildpacks 0.6 of the Tekton catalog does with the example's variables: no pack, the
// builder's creator at Platform API 0.9, straight into a registry.
func TestTektonTask(t *testing.T) {
	t.Parallel()
	needDocker(t)
	road := must(dockerOptional())(t)
	registry, run := registryWithRun(t, road)
	platform := must(kit.Stage(tektonVariables(t)))(t)
	ref := registry.Name("app")
	log := must(road.Once(t.Context(), road.Name("builder"), []string{
		"--network", "host", "--env", "CNB_PLATFORM_API=0.9",
		"--volume", must(sample())(t) + ":/workspace/source:ro", "--volume", platform + ":/platform:ro",
	}, "/cnb/lifecycle/creator", "-app=/workspace/source", "-uid=1000", "-gid=1000", "-layers=/layers",
		"-platform=/platform", "-report=/layers/report.toml", "-process-type=web",
		"-previous-image="+ref, "-run-image="+run, ref))(t)
	image := must(registry.Pull(ref, log))(t)
	wantEqual(t, image, "default args", string(must(image.ReadFile(argsFile))(t)), "-addr=localhost:5000\n")
	wantServing(t, must(phases())(t), image)
}

// tektonVariables are the files that the Task makes of the example's parameter ENV_VARS in the platform folder.
func tektonVariables(t *testing.T) map[string]string {
	t.Helper()
	var run struct {
		Spec struct {
			Params []struct {
				Name  string
				Value yaml.Node
			}
		}
	}
	if err := yaml.Unmarshal(must(os.ReadFile("../examples/tekton.yaml"))(t), &run); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, param := range run.Spec.Params {
		if param.Name != "ENV_VARS" {
			continue
		}
		for _, pair := range param.Value.Content {
			key, value, _ := strings.Cut(pair.Value, "=")
			files["env/"+key] = value
		}
	}
	return files
}
