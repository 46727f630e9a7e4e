package integration

import (
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// TestOtherUser builds and runs as a user that is not 1000, with a group that is another number.
func TestOtherUser(t *testing.T) {
	t.Parallel()
	needDocker(t)
	road := must(dockerOther())(t)
	build := harness.Build{Name: "other-user", App: must(sample())(t), Env: []string{argsEnv + "-addr=localhost:5000"}}
	image := must(road.Build(t.Context(), build))(t)
	wantEqual(t, image, "users", must(image.ConfigFile())(t).Config.User, "1234:2345")
	wantExit(t, serve(t, road, image), 0, harness.ProbePath)
	again := must(road.Build(t.Context(), build))(t)
	wantEqual(t, again, "layers", ourLayers(t, again), ourLayers(t, image))
}

// TestRestrictedContainer executes the probe with what platforms take away from containers.
func TestRestrictedContainer(t *testing.T) {
	t.Parallel()
	needDocker(t)
	road := must(docker())(t)
	image := must(probed())(t)
	for name, flags := range map[string][]string{
		"arbitrary-user": {"--user", "54321:0"}, // OpenShift's restricted SCC
		"read-only":      {"--read-only"},
		"no-privileges":  {"--cap-drop", "ALL", "--security-opt", "no-new-privileges"},
		"all":            {"--user", "54321:0", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := must(road.RunWith(t.Context(), image, flags))(t)
			stopAfter(t, server)
			wantExit(t, server, 0, harness.ProbePath)
		})
	}
}
