package integration

import (
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// TestOtherUser builds and runs as a user other than 1000, whose group has yet another number.
func TestOtherUser(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(dockerOther())(t)
	build := harness.Build{Name: "other-user", App: must(sample())(t), Env: []string{argsEnv + "-addr=localhost:5000"}}
	image := must(platform.Build(t.Context(), build))(t)
	wantEqual(t, image, "users", must(image.ConfigFile())(t).Config.User, "1234:2345")
	wantExit(t, serve(t, platform, image), 0, harness.ProbePath)
	again := must(platform.Build(t.Context(), build))(t)
	wantEqual(t, again, "layers", ourLayers(t, again), ourLayers(t, image))
}

// TestRestrictedContainer executes the probe under the restrictions that platforms put on containers.
func TestRestrictedContainer(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	image := must(probed())(t)
	for name, flags := range map[string][]string{
		"arbitrary-user": {"--user", "54321:0"}, // OpenShift's restricted SCC
		"read-only":      {"--read-only"},
		"no-privileges":  {"--cap-drop", "ALL", "--security-opt", "no-new-privileges"},
		"all": {
			"--user", "54321:0", "--read-only", "--cap-drop", "ALL", "--security-opt",
			"no-new-privileges",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := must(platform.RunWith(t.Context(), image, flags))(t)
			stopAfter(t, server)
			wantExit(t, server, 0, harness.ProbePath)
		})
	}
}
