package integration

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/grpc-cnb/health-probe/integration/documents"
	"github.com/grpc-cnb/health-probe/integration/harness"
)

// execLabel is the part of the image's label that is an exec probe. JSON and YAML name its parts alike.
type execLabel struct {
	Command        []string
	TimeoutSeconds int `yaml:"timeoutSeconds"`
}

// TestProbeOfAnImage runs the lines of docs/kubernetes.md that print the exec probe of an image, in a registry and in
// Docker, and executes that probe. Of an image without the probe they print nothing.
func TestProbeOfAnImage(t *testing.T) {
	t.Parallel()
	needDocker(t)
	needJQ(t)
	platform := must(docker())(t)
	image := must(probed())(t)
	bare := must(platform.PackBuild(t.Context(), harness.Build{
		Name: "label-none", App: must(fixture.Stage(map[string]string{"Procfile": "web: none\n"}))(t),
	}))(t)
	registry := must(harness.NewRegistry())(t)
	t.Cleanup(func() { _ = registry.Close() })
	var want struct{ Exec execLabel }
	if err := json.Unmarshal([]byte(must(image.Label(buildpackLabel))(t)), &want); err != nil {
		t.Fatal(err)
	}
	for program, names := range map[string]struct{ documented, probed, bare string }{
		"crane": {
			"registry.example.com/my-app:1.0.0", must(registry.Push("probed", image.Image))(t),
			must(registry.Push("bare", bare.Image))(t),
		},
		"docker": {"my-app", image.Ref, bare.Ref},
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			line := labelLine(t, program)
			if !strings.Contains(line, " "+names.documented+" ") {
				t.Fatalf("the line names no image %s: %s", names.documented, line)
			}
			output, _ := shell(t, strings.Replace(line, names.documented, names.probed, 1))
			var got struct {
				ReadinessProbe struct {
					Exec           execLabel
					TimeoutSeconds int `yaml:"timeoutSeconds"`
				} `yaml:"readinessProbe"`
			}
			decoder := yaml.NewDecoder(strings.NewReader(output))
			decoder.KnownFields(true)
			if err := decoder.Decode(&got); err != nil {
				t.Fatalf("reading %q: %v", output, err)
			}
			got.ReadinessProbe.Exec.TimeoutSeconds = got.ReadinessProbe.TimeoutSeconds
			wantEqual(t, image, "probes", got.ReadinessProbe.Exec, want.Exec)
			wantExit(t, serve(t, platform, image), 0, got.ReadinessProbe.Exec.Command...)

			output, failed := shell(t, strings.Replace(line, names.documented, names.bare, 1))
			if output != "" || !strings.Contains(failed, "null") {
				t.Errorf("of an image without the probe it prints %q, and %q", output, failed)
			}
		})
	}
}

// labelLine returns the command line in docs/kubernetes.md that begins with a program and reads the label.
func labelLine(t *testing.T, program string) string {
	t.Helper()
	document := must(documents.Read("../docs/kubernetes.md"))(t)
	for _, block := range document.Blocks {
		for _, command := range block.Commands() {
			if strings.HasPrefix(command, program+" ") && strings.Contains(command, buildpackLabel) {
				return command
			}
		}
	}
	t.Fatalf("docs/kubernetes.md has no line of %s that reads the label", program)
	return ""
}

// shell runs a command line, with the crane of the tests, and returns what it printed on both outputs.
func shell(t *testing.T, line string) (output, failed string) {
	t.Helper()
	crane := must(fixture.Tool(t.Context(), "crane"))(t)
	var out, errs bytes.Buffer
	command := exec.CommandContext(t.Context(), "sh", "-c", line)
	command.Env = append(os.Environ(), "PATH="+filepath.Dir(crane)+":"+os.Getenv("PATH"))
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil {
		t.Fatalf("running %s: %v\n%s", line, err, errs.String())
	}
	return out.String(), errs.String()
}

// needJQ skips the test if there is no jq. With CI=true it fails the test instead.
func needJQ(t *testing.T) {
	t.Helper()
	_, err := exec.LookPath("jq")
	if err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("CI=true needs jq: %v", err)
	}
	t.Skip("left out: it needs jq, which is not on the PATH")
}
