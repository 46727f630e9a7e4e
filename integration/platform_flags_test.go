package integration

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// TestUntrustedBuilder builds as pack does with a builder that nobody trusts: each phase in a container of its own,
// those with the engine's socket from the lifecycle's image.
func TestUntrustedBuilder(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(dockerOptional())(t)
	image := must(platform.PackBuild(t.Context(), harness.Build{Name: "untrusted", App: must(sample())(t)},
		"--trust-builder=false", "--verbose"))(t)
	wantInLog(t, image, "is untrusted")
	wantServing(t, platform, image)
}

// TestWithoutNetwork builds with no network but loopback in the build's containers.
func TestWithoutNetwork(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	image := must(platform.PackBuild(t.Context(), harness.Build{Name: "no-network", App: must(sample())(t)},
		"--network", "none", "-b", "from=builder", "-b", folder()))(t)
	wantServing(t, platform, image)
}

// TestCreationTime dates an image, and makes the same image again from nothing.
func TestCreationTime(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	created := time.Date(2024, time.February, 3, 4, 5, 6, 0, time.UTC)
	var ids []v1.Hash
	for _, name := range []string{"dated", "dated-again"} {
		image := must(platform.PackBuild(t.Context(), harness.Build{
			Name: name, App: must(sample())(t), Env: []string{argsEnv + "-addr=localhost:5000"},
		}, "--creation-time", strconv.FormatInt(created.Unix(), 10), "--clear-cache",
			"-b", "from=builder", "-b", folder()))(t)
		wantEqual(t, image, "dates", must(image.ConfigFile())(t).Created.UTC(), created)
		ids = append(ids, must(image.ConfigName())(t))
	}
	if ids[0] != ids[1] {
		t.Errorf("the images are %v, want the same", ids)
	}
}

// TestSBOMOutputDir has pack write the SBOM files of the build, which name the probe's modules.
func TestSBOMOutputDir(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	out := t.TempDir()
	must(platform.PackBuild(t.Context(), harness.Build{Name: "sbom-output", App: must(sample())(t)},
		"--sbom-output-dir", out, "-b", "from=builder", "-b", folder()))(t)
	for _, format := range []string{"cdx", "spdx", "syft"} {
		path := filepath.Join(out, "sbom/launch/grpc-cnb_health-probe/probe", "sbom."+format+".json")
		if text := string(must(os.ReadFile(path))(t)); !strings.Contains(text, "github.com/grpc-cnb/health-probe") {
			t.Errorf("%s does not name the probe's module:\n%s", path, text)
		}
	}
}

// TestReadOnlyVolume has the app's source in a volume that the build may not write to.
func TestReadOnlyVolume(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	source := string(must(os.ReadFile("sample/main.go"))(t))
	volume := must(fixture.Stage(map[string]string{"main.go": source}))(t)
	app := must(fixture.StageSample(t.Context(), nil))(t)
	for _, name := range []string{"main.go", "go.mod", "go.sum"} {
		if err := os.Remove(filepath.Join(app, name)); err != nil {
			t.Fatal(err)
		}
	}
	image := must(platform.PackBuild(t.Context(), harness.Build{Name: "read-only-volume", App: app},
		"--volume", volume+":/workspace/source:ro", "-b", "from=builder", "-b", folder()))(t)
	wantInLog(t, image, "source/main.go:")
	wantServing(t, platform, image)
}

// TestPublish builds straight into a registry, where the run image is, too. The layers are those of a build in the
// engine.
func TestPublish(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	registry, run := registryWithRun(t, platform)
	ref := registry.Name(platform.Name("app")) // pack calls its volumes after it
	log := must(platform.Pack(t.Context(), "build", ref, "--publish", "--env", probedArgs, "--env", bridgeEnv+"true",
		"--network", "host", "--run-image", run,
		"--path", must(sample())(t), "--builder", platform.Name("builder"),
		"--lifecycle-image", platform.Name("lifecycle"),
		"--pull-policy", "never", "-b", "from=builder", "-b", folder()))(t)
	published := must(registry.Pull(ref, log))(t)
	wantEqual(t, published, "diffIDs", diffIDs(t, published), diffIDs(t, must(probed())(t)))
	wantServing(t, must(phases())(t), published)
}

// registryWithRun starts a registry that has the platform's run image, and returns that image's name there.
func registryWithRun(t *testing.T, platform *harness.Docker) (registry *harness.Registry, run string) {
	t.Helper()
	registry = must(harness.NewRegistry())(t)
	t.Cleanup(func() {
		if err := registry.Close(); err != nil {
			t.Errorf("closing the registry: %v", err)
		}
	})
	image := must(platform.Image(t.Context(), platform.Name("run"), ""))(t)
	return registry, must(registry.Push("run", image.Image))(t)
}
