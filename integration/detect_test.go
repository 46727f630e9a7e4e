package integration

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// enabled is the variable that opts in and out.
const enabled = "BP_GRPC_HEALTH_PROBE_ENABLED="

func appWithoutGRPC(t *testing.T) string {
	t.Helper()
	return must(fixture.Stage(map[string]string{
		"Procfile":   "web: ./server\n",
		"index.html": "<p>no gRPC here</p>\n",
	}))(t)
}

func TestAppWithoutGRPC(t *testing.T) {
	eachOptionalPlatform(t, func(t *testing.T, platform harness.Platform) {
		image := must(platform.Build(t.Context(), harness.Build{Name: "none", App: appWithoutGRPC(t)}))(t)
		wantProbe(t, image, false)
		wantEqual(t, image, "processes", processes(t, image), []string{"web"})
	})
}

func TestEnabledForces(t *testing.T) {
	eachOptionalPlatform(t, func(t *testing.T, platform harness.Platform) {
		build := harness.Build{Name: "forced", App: appWithoutGRPC(t), Env: []string{enabled + "true"}}
		wantProbe(t, must(platform.Build(t.Context(), build))(t), true)
	})
}

func TestDisabledWithdraws(t *testing.T) {
	eachOptionalPlatform(t, func(t *testing.T, platform harness.Platform) {
		build := harness.Build{Name: "withdrawn", App: must(sample())(t), Env: []string{enabled + "false"}}
		wantProbe(t, must(platform.Build(t.Context(), build))(t), false)
	})
}

// TestDisabledPasses names the buildpack with -b, if nothing is optional. The build goes on without it.
func TestDisabledPasses(t *testing.T) {
	eachPlatform(t, func(t *testing.T, platform harness.Platform) {
		build := harness.Build{
			Name: "disabled", App: must(sample())(t), Buildpack: folder(), Env: []string{enabled + "false"},
		}
		wantProbe(t, must(platform.Build(t.Context(), build))(t), false)
	})
}

// wantBuildError expects the error of a build whose log has the words.
func wantBuildError(t *testing.T, err error, words ...string) {
	t.Helper()
	failed, ok := errors.AsType[*harness.BuildError](err)
	if !ok {
		t.Fatalf("the build returned %v, not a build error", err)
	}
	for _, want := range words {
		if !strings.Contains(failed.Log, want) {
			t.Errorf("the log has no %q:\n%s", want, failed.Log)
		}
	}
}

// wantProbe looks for the probe in an image.
func wantProbe(t *testing.T, image *harness.Image, want bool) {
	t.Helper()
	_, err := image.ReadFile(harness.ProbePath)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if got := err == nil; got != want {
		t.Errorf("the image has the probe: %t, want %t\n%s", got, want, image.Log)
	}
}

// TestProcfileDecidesTheAddress starts an app with a flag for its address in the Procfile: the probe finds it there
// without flags. Without Docker the harness chooses the address.
func TestProcfileDecidesTheAddress(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	app := must(fixture.StageSample(t.Context(), nil))(t)
	procfile := []byte("web: ./server -grpc 127.0.0.1:7000\n")
	if err := os.WriteFile(filepath.Join(app, "Procfile"), procfile, 0o644); err != nil {
		t.Fatal(err)
	}
	image := must(platform.Build(t.Context(), harness.Build{Name: "procfile", App: app, Buildpack: folder()}))(t)
	wantExit(t, serve(t, platform, image), 0, harness.ProbePath)
}
