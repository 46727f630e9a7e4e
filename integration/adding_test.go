package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// TestWaysToAdd builds the sample app with each way that users have to add the buildpack.
func TestWaysToAdd(t *testing.T) {
	t.Parallel()
	needDocker(t)
	for name, flags := range map[string][]string{
		"flag":           {"-b", "from=builder", "-b", folder()},
		"image":          {"-b", "from=builder", "-b", must(packaged())(t)},
		"post-buildpack": {"--post-buildpack", folder()},
		"urn":            {"-b", "urn:cnb:builder:grpc-cnb/test-procfile", "-b", folder()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			platform := must(docker())(t)
			build := harness.Build{Name: "add-" + name, App: must(sample())(t)}
			wantServing(t, platform, must(platform.PackBuild(t.Context(), build, flags...))(t))
		})
	}
}

// TestProjectExamples builds with each project.toml in examples. The path alone is a complete exec probe.
func TestProjectExamples(t *testing.T) {
	t.Parallel()
	needDocker(t)
	for _, path := range must(filepath.Glob("../examples/project*.toml"))(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".toml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			platform := must(docker())(t)
			text := withLocalProduct(t, string(must(os.ReadFile(path))(t)))
			staged := must(fixture.Stage(map[string]string{"project.toml": text}))(t)
			image := must(platform.PackBuild(t.Context(), harness.Build{Name: name, App: must(sample())(t)},
				"--descriptor", filepath.Join(staged, "project.toml")))(t)
			wantExit(t, serve(t, platform, image), 0, harness.ProbePath)
		})
	}
}

// TestReplacingTheBuildersList shows what -b alone does: the image has the probe but no process, since -b replaces the
// builder's own buildpacks.
func TestReplacingTheBuildersList(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	image := must(platform.PackBuild(t.Context(), harness.Build{Name: "alone", App: must(sample())(t)}, "-b",
		folder()))(t)
	must(image.ReadFile(harness.ProbePath))(t)
	if got := processes(t, image); len(got) != 0 {
		t.Errorf("processes are %v, want none\n%s", got, image.Log)
	}
}

// TestBuilderOrder builds with a builder whose order has the buildpack as an optional member.
func TestBuilderOrder(t *testing.T) {
	eachOptionalPlatform(t, func(t *testing.T, platform harness.Platform) {
		image := must(platform.Build(t.Context(), harness.Build{Name: "ordered", App: must(sample())(t)}))(t)
		wantServing(t, platform, image)
	})
}

// TestBuilderURN builds with single buildpacks of the builder.
func TestBuilderURN(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(dockerOptional())(t)
	image := must(platform.PackBuild(t.Context(), harness.Build{Name: "picked", App: must(sample())(t)},
		"-b", "urn:cnb:builder:grpc-cnb/test-procfile", "-b", "urn:cnb:builder:"+buildpackID))(t)
	wantServing(t, platform, image)
}

// TestPackages builds with the buildpack packaged as files, by scripts/release.sh, and as an image. Each makes the same
// image as the folder.
func TestPackages(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	want := diffIDs(t, must(platform.Build(t.Context(),
		harness.Build{Name: "of-folder", App: must(sample())(t), Buildpack: folder()}))(t))
	for name, uri := range map[string]string{
		"file":    fixture.Dist("release/health-probe-linux-" + arch + ".cnb"),
		"archive": fixture.Dist("release/health-probe-linux-" + arch + ".tgz"),
		"image":   "docker://" + must(packaged())(t),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			image := must(platform.Build(t.Context(),
				harness.Build{Name: "of-" + name, App: must(sample())(t), Buildpack: uri}))(t)
			wantEqual(t, image, "diffIDs", diffIDs(t, image), want)
		})
	}
}
