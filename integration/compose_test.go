package integration

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

const (
	composeFile   = "../examples/compose.yaml"
	composeBridge = "../examples/compose-bridge.yaml"
	composeLaunch = "../examples/compose-launch.yaml"
)

// composeTest is what the tests put over the example: the HTTP side of the app, which flips its status, and so much
// time for a check that a busy machine changes no outcome.
const composeTest = `
services:
  greeter:
    ports: ["127.0.0.1::8080"]
    healthcheck: {timeout: 2m}
    environment: {GRPC_HEALTH_PROBE_CONNECT_TIMEOUT: 1m, GRPC_HEALTH_PROBE_RPC_TIMEOUT: 1m}
`

// TestComposeFollowsTheStatus runs the example and flips the status of the service.
func TestComposeFollowsTheStatus(t *testing.T) {
	t.Parallel()
	platform := needCompose(t)
	image := must(probed())(t)
	project := compose(t, platform, image, image)
	must(project.Run(t.Context(), "up", "--detach"))(t)
	server := must(project.Server(t.Context(), "greeter"))(t)

	wantHealth(t, platform, server, "healthy")
	flip(t, server, "/make-not-serving")
	sick := wantHealth(t, platform, server, "unhealthy")
	last := sick.Health.Log[len(sick.Health.Log)-1]
	if want := "error: checking the whole server: status is NOT_SERVING"; last.ExitCode == 0 ||
		!strings.Contains(last.Output, want) {
		t.Errorf("the last check exits %d with %q, want %q", last.ExitCode, last.Output, want)
	}
	flip(t, server, "/make-serving")
	wantHealth(t, platform, server, "healthy")

	// Another container of the network can ask as well.
	must(project.Run(t.Context(), "run", "--rm", "-T", "--no-deps", "--entrypoint", harness.ProbePath, "caller",
		"-addr=greeter:5000", "-wait=1m"))(t)
}

// TestComposeStartsDependantsWhenHealthy has a service that gets healthy and one that never does.
func TestComposeStartsDependantsWhenHealthy(t *testing.T) {
	t.Parallel()
	platform := needCompose(t)
	image := must(probed())(t)
	t.Run("healthy", func(t *testing.T) {
		t.Parallel()
		project := compose(t, platform, image, image)
		must(project.Run(t.Context(), "up", "--detach"))(t)
		greeter, caller := must(project.State(t.Context(), "greeter"))(t), must(project.State(t.Context(), "caller"))(t)
		// Docker checks for the first time after an interval.
		if waited := caller.StartedAt.Sub(greeter.StartedAt); caller.Status != "running" || waited < 5*time.Second {
			t.Errorf("the dependant is %+v, started %s after the service", caller, waited)
		}
	})
	t.Run("never", func(t *testing.T) {
		t.Parallel()
		app := must(fixture.StageSample(t.Context(), nil))(t)
		if err := os.WriteFile(filepath.Join(app, "Procfile"), []byte("web: ./server -no-health\n"),
			0o644); err != nil {
			t.Fatal(err)
		}
		never := must(platform.Build(t.Context(),
			harness.Build{Name: "compose-never", App: app, Buildpack: folder()}))(t)
		project := compose(t, platform, never, image)
		out, err := project.Run(t.Context(), "up", "--detach")
		if err == nil || !strings.Contains(err.Error(), "unhealthy") {
			t.Errorf("the project came up with %v\n%s", err, out)
		}
		if caller := must(project.State(t.Context(), "caller"))(t); caller.Status != "" && caller.Status != "created" {
			t.Errorf("the dependant is %+v", caller)
		}
	})
}

// TestComposeBridge runs the example with the bridge, which answers HTTP, and finds the app again when that was
// restarted.
func TestComposeBridge(t *testing.T) {
	t.Parallel()
	platform := needCompose(t)
	image := must(probed())(t)
	project := composeOf(t, platform, composeBridge, "services: {greeter: {ports: ['127.0.0.1::8080']}}\n",
		"GREETER_IMAGE="+image.Ref, "HEALTH_PORT=0")
	must(project.Run(t.Context(), "up", "--detach"))(t)
	page := "http://" + must(project.Run(t.Context(), "port", "health-bridge", "8086"))(t) + "/readyz"
	wantPage(t, page, http.StatusOK, "status: SERVING")
	flip(t, must(project.Server(t.Context(), "greeter"))(t), "/make-not-serving")
	wantPage(t, page, http.StatusServiceUnavailable, "status is NOT_SERVING")
	must(project.Run(t.Context(), "restart", "greeter"))(t)
	wantPage(t, page, http.StatusOK, "status: SERVING")
}

// TestComposeLaunch runs the example with the bridge in the app's own container.
func TestComposeLaunch(t *testing.T) {
	t.Parallel()
	platform := needCompose(t)
	project := composeOf(t, platform, composeLaunch, "services: {greeter: {ports: ['127.0.0.1::8080']}}\n",
		"GREETER_IMAGE="+must(launched())(t).Ref, "HEALTH_PORT=0")
	must(project.Run(t.Context(), "up", "--detach"))(t)
	pages := "http://" + must(project.Run(t.Context(), "port", "greeter", "8086"))(t)
	wantPage(t, pages+"/readyz", http.StatusOK, "status: SERVING")
	flip(t, must(project.Server(t.Context(), "greeter"))(t), "/make-not-serving")
	wantPage(t, pages+"/readyz", http.StatusServiceUnavailable, "status is NOT_SERVING")
	wantPage(t, pages+"/livez", http.StatusOK, "")
}

// TestDockerRunHealth shows the two ways that plain docker run has: --health-cmd, which takes a shell that the image
// has not, and an image with a HEALTHCHECK.
func TestDockerRunHealth(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	image := must(probed())(t)
	t.Run("health-cmd", func(t *testing.T) {
		t.Parallel()
		flags := []string{
			"--health-cmd", harness.ProbePath + " -addr=localhost:5000", "--health-interval=100ms",
			"--health-retries=3", // the first may find the launcher in the middle of becoming the app
		}
		server := must(platform.RunWith(t.Context(), image, flags))(t)
		stopAfter(t, server)
		state := wantHealth(t, platform, server, "unhealthy")
		last := state.Health.Log[len(state.Health.Log)-1]
		wantQuoted(t, last.Output, `exec: "/bin/sh": stat /bin/sh: no such file or directory`)
	})
	t.Run("dockerfile", func(t *testing.T) {
		t.Parallel()
		checked := must(platform.DockerBuild(t.Context(), "checked", "../examples/healthcheck.Dockerfile",
			"IMAGE="+image.Ref))(t)
		server := serve(t, platform, checked)
		wantHealth(t, platform, server, "healthy")
	})
}

// TestExecWithoutTheProbe executes the probe in an image that was built without the buildpack.
func TestExecWithoutTheProbe(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	server := serve(t, platform, must(platform.Build(t.Context(),
		harness.Build{Name: "without", App: must(sample())(t)}))(t))
	result := must(server.Exec(t.Context(), harness.ProbePath, "-addr="+server.GRPC))(t)
	if result.Code == 0 {
		t.Error("it exits 0")
	}
	wantQuoted(t, result.Output, fmt.Sprintf("OCI runtime exec failed: exec failed: "+
		"unable to start container process: exec: %[1]q: stat %[1]s: no such file or directory", harness.ProbePath))
}

// wantQuoted looks for words in what Docker said, and in docs/troubleshooting.md, which quotes it.
func wantQuoted(t *testing.T, said, words string) {
	t.Helper()
	if !strings.Contains(said, words) {
		t.Errorf("it says %q, want %q", said, words)
	}
	if document := must(os.ReadFile("../docs/troubleshooting.md"))(t); !strings.Contains(string(document), words) {
		t.Errorf("docs/troubleshooting.md does not quote %q", words)
	}
}

// needCompose is needDocker for tests that need Compose too. It returns the platform that they take.
func needCompose(t *testing.T) *harness.Docker {
	t.Helper()
	needDocker(t)
	platform := must(docker())(t)
	if err := platform.ComposeNeeds(t.Context()); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("CI=true needs Docker Compose: %v", err)
		}
		t.Skipf("left out: it needs Docker Compose: %v", err)
	}
	return platform
}

// compose makes a project of the example, which is removed when the test ends.
func compose(t *testing.T, platform *harness.Docker, greeter, caller *harness.Image) *harness.Compose {
	t.Helper()
	return composeOf(t, platform, composeFile, composeTest, "GREETER_IMAGE="+greeter.Ref, "CALLER_IMAGE="+caller.Ref)
}

// composeOf is compose for another example, with what a test puts over it and variables.
func composeOf(t *testing.T, platform *harness.Docker, file, second string, env ...string) *harness.Compose {
	t.Helper()
	project := must(platform.Compose(t.Context(), file, second, env...))(t)
	t.Cleanup(func() {
		if err := project.Close(); err != nil {
			t.Errorf("removing the project: %v", err)
		}
	})
	return project
}

// flip asks the app for another status.
func flip(t *testing.T, server *harness.Server, path string) {
	t.Helper()
	if err := server.Control(t.Context(), path); err != nil {
		t.Fatal(err)
	}
}

// wantHealth asks until the container has a state of health, for three minutes.
func wantHealth(t *testing.T, platform *harness.Docker, server *harness.Server, want string) harness.State {
	t.Helper()
	deadline := time.After(3 * time.Minute)
	for {
		state := must(platform.State(t.Context(), server.Container))(t)
		if state.Health.Status == want {
			return state
		}
		select {
		case <-deadline:
			t.Fatalf("the container is %+v, want %s", state, want)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
