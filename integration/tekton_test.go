package integration

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// tektonStep is the step of the example's Task, and the variables of its ConfigMap.
type tektonStep struct {
	Command, Args []string
	Env           []struct{ Name, Value string }
	variables     map[string]string
}

// TestTektonTask runs the step of the example's Task in a builder: no pack, the lifecycle's creator, straight into a
// registry. The build variables are in the folder as a ConfigMap is mounted, with links to the files of a hidden
// folder.
func TestTektonTask(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(dockerOptional())(t)
	registry, run := registryWithRun(t, platform)
	step := readTektonStep(t)
	ref := registry.Name("app")
	parameters := strings.NewReplacer("$(params.APP_IMAGE)", ref, "$(params.RUN_IMAGE)", run,
		"$(workspaces.source.path)", "/workspace/source", "$(workspaces.dockerconfig.path)", "")
	flags := []string{
		"--network", "host", "--user", "1000:1000", "--volume", must(sample())(t) + ":/workspace/source:ro",
		"--volume", mountConfigMap(t, step.variables) + ":/platform/env:ro",
	}
	for _, variable := range step.Env {
		flags = append(flags, "--env", variable.Name+"="+parameters.Replace(variable.Value))
	}
	command := slices.Concat(step.Command, step.Args)
	for i := range command {
		command[i] = parameters.Replace(command[i])
	}
	log := must(platform.Once(t.Context(), platform.Name("builder"), flags, command...))(t)
	image := must(registry.Pull(ref, log))(t)
	wantEqual(t, image, "default args", string(must(image.ReadFile(argsFile))(t)), "-timeout=2s\n")
	wantServing(t, must(phases())(t), image)
}

// readTektonStep reads the example.
func readTektonStep(t *testing.T) (step tektonStep) {
	t.Helper()
	decoder := yaml.NewDecoder(bytes.NewReader(must(os.ReadFile("../examples/tekton.yaml"))(t)))
	for {
		var resource struct {
			Kind string
			Data map[string]string
			Spec struct{ Steps []tektonStep }
		}
		err := decoder.Decode(&resource)
		switch {
		case errors.Is(err, io.EOF):
			return step
		case err != nil:
			t.Fatal(err)
		case resource.Kind == "Task":
			step.Command, step.Args, step.Env = resource.Spec.Steps[0].Command, resource.Spec.Steps[0].Args,
				resource.Spec.Steps[0].Env
		case resource.Kind == "ConfigMap":
			step.variables = resource.Data
		}
	}
}

// mountConfigMap makes a folder as the kubelet does of a ConfigMap.
func mountConfigMap(t *testing.T, data map[string]string) string {
	t.Helper()
	hidden := map[string]string{}
	for name, value := range data {
		hidden["..2026_01_01/"+name] = value
	}
	folder := must(fixture.Stage(hidden))(t)
	if err := os.Symlink("..2026_01_01", filepath.Join(folder, "..data")); err != nil {
		t.Fatal(err)
	}
	for name := range data {
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}
