package integration

import (
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// argsEnv sets the probe's default flags; argsFile is where they are in the image.
const (
	argsEnv  = "BP_GRPC_HEALTH_PROBE_ARGS="
	argsFile = "/layers/grpc-cnb_health-probe/config/grpc_health_probe.args"
)

func buildWithArgs(t *testing.T, platform harness.Platform, name, args string) *harness.Image {
	t.Helper()
	return must(platform.Build(t.Context(), harness.Build{
		Name: name, App: must(sample())(t), Buildpack: folder(), Env: []string{argsEnv + args},
	}))(t)
}

func TestArgsBecomeDefaults(t *testing.T) {
	eachPlatform(t, func(t *testing.T, platform harness.Platform) {
		image := buildWithArgs(t, platform, "args", "-addr=localhost:5000 -service=shop -rpc-timeout 2s")
		got := string(must(image.ReadFile(argsFile))(t))
		wantEqual(t, image, "default args", got, "-addr=localhost:5000\n-service=shop\n-rpc-timeout\n2s\n")

		// Only a probe that reads the file asks for the service.
		with := serve(t, platform, image, "-service=shop")
		wantExit(t, with, 0, harness.ProbePath, "-addr="+with.GRPC)
		without := serve(t, platform, image)
		wantExit(t, without, 3, harness.ProbePath, "-addr="+without.GRPC)
	})
}

// TestBareExec executes the probe's path without flags. It needs a container, in which port 5000 is free.
func TestBareExec(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	server := serve(t, platform, buildWithArgs(t, platform, "bare-exec", "-addr=localhost:5000"))
	wantExit(t, server, 0, harness.ProbePath)
}

func TestBadArgsFailTheBuild(t *testing.T) {
	eachPlatform(t, func(t *testing.T, platform harness.Platform) {
		build := harness.Build{Name: "bad-args", App: must(sample())(t), Buildpack: folder()}
		build.Env = []string{argsEnv + "-addr=localhost:5000 -tls-no-verify"}
		_, err := platform.Build(t.Context(), build)
		wantBuildError(t, err, "BP_GRPC_HEALTH_PROBE_ARGS", "-tls-no-verify")
	})
}
