package integration

import (
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
		"post-buildpack": {"--post-buildpack", folder()},
		"urn":            {"-b", "urn:cnb:builder:grpc-cnb/test-procfile", "-b", folder()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			road := must(docker())(t)
			build := harness.Build{Name: "add-" + name, App: must(sample())(t)}
			wantServing(t, road, must(road.PackBuild(t.Context(), build, flags...))(t))
		})
	}
}

// TestProjectExamples builds with each project.toml in examples. They also set the probe's default flags: the path alone is a
// whole exec probe.
func TestProjectExamples(t *testing.T) {
	t.Parallel()
	needDocker(t)
	for _, path := range must(filepath.Glob("../examples/project*.toml"))(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".toml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			road := must(docker())(t)
			image := must(road.PackBuild(t.Context(), harness.Build{Name: name, App: must(sample())(t)}, "--descriptor", path))(t)
			wantExit(t, serve(t, road, image), 0, harness.ProbePath)
		})
	}
}

// TestReplacingTheBuildersList shows what -b alone does: the image has the probe, and no process, for the builder's own
// buildpacks are gone.
func TestReplacingTheBuildersList(t *testing.T) {
	t.Parallel()
	needDocker(t)
	road := must(docker())(t)
	image := must(road.PackBuild(t.Context(), harness.Build{Name: "alone", App: must(sample())(t)}, "-b", folder()))(t)
	must(image.ReadFile(harness.ProbePath))(t)
	if got := processes(t, image); len(got) != 0 {
		t.Errorf("processes are %v, want none\n%s", got, image.Log)
	}
}

// TestBuilderOrder has the buildpack optional in the builder's order.
func TestBuilderOrder(t *testing.T) {
	eachOptionalRoad(t, func(t *testing.T, road harness.Road) {
		image := must(road.Build(t.Context(), harness.Build{Name: "ordered", App: must(sample())(t)}))(t)
		wantServing(t, road, image)
	})
}

// TestBuilderURN picks the buildpacks out of the builder.
func TestBuilderURN(t *testing.T) {
	t.Parallel()
	needDocker(t)
	road := must(dockerOptional())(t)
	image := must(road.PackBuild(t.Context(), harness.Build{Name: "picked", App: must(sample())(t)},
		"-b", "urn:cnb:builder:grpc-cnb/test-procfile", "-b", "urn:cnb:builder:"+buildpackID))(t)
	wantServing(t, road, image)
}

// TestPackages builds with the buildpack packaged as files and as an image: the image is the one the folder makes.
func TestPackages(t *testing.T) {
	t.Parallel()
	needDocker(t)
	road := must(docker())(t)
	want := diffIDs(t, must(road.Build(t.Context(), harness.Build{Name: "of-folder", App: must(sample())(t), Buildpack: folder()}))(t))
	packaged := road.Name("package")
	must(road.Pack(t.Context(), "buildpack", "package", packaged, "--format", "image", "--path", folder(),
		"--target", "linux/"+arch, "--pull-policy", "never"))(t)
	for name, uri := range map[string]string{
		"file":    kit.Dist("health-probe-linux-" + arch + ".cnb"),
		"archive": kit.Dist("health-probe-linux-" + arch + ".tgz"),
		"image":   "docker://" + packaged,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			image := must(road.Build(t.Context(), harness.Build{Name: "of-" + name, App: must(sample())(t), Buildpack: uri}))(t)
			wantEqual(t, image, "diffIDs", diffIDs(t, image), want)
		})
	}
}
