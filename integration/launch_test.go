package integration

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/build/labeltest"
	"github.com/grpc-cnb/health-probe/integration/harness"
)

// launched returns an image of the sample app in the engine, whose launcher starts the bridge.
var launched = builtOnce("launched", bridgeEnv+"launch")

// launcher is the lifecycle's, by its path in each image.
const launcher = "/cnb/lifecycle/launcher"

// bridgePort publishes the bridge's port on loopback.
var bridgePort = []string{"--publish", "127.0.0.1::8086"}

// TestLaunchedBridge runs an image whose launcher starts the bridge: its pages follow the app, without any other
// container and without any command in the container. It logs to the container's log, if a second launcher finds
// nothing to add.
func TestLaunchedBridge(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	image := must(launched())(t)
	text := must(image.Label(buildpackLabel))(t)
	if err := labeltest.Check(repository, text); err != nil {
		t.Error(err)
	}
	var label struct{ Bridge struct{ Start string } }
	if err := json.Unmarshal([]byte(text), &label); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, image, "start of the bridge in the label", label.Bridge.Start, "launcher")

	server := must(platform.RunWith(t.Context(), image, bridgePort))(t)
	stopAfter(t, server)
	pages := "http://" + must(platform.Port(t.Context(), server.Container, 8086))(t)
	wantPage(t, pages+"/readyz", http.StatusOK, "status: SERVING")
	again := must(server.Exec(t.Context(), launcher, "--", harness.ProbePath, "-wait=1m"))(t)
	wantEqual(t, image, "a second launcher", again, harness.Result{Output: "status: SERVING\n"})
	flip(t, server, "/make-not-serving")
	wantPage(t, pages+"/readyz", http.StatusServiceUnavailable, "status is NOT_SERVING")
	wantPage(t, pages+"/livez", http.StatusOK, "")

	const prefix, first = "grpc_health_bridge: ", `grpc_health_bridge: listening on [::]:8086, asking "localhost:5000"`
	log := must(platform.Logs(t.Context(), server.Container))(t)
	if !strings.Contains(log, first+"\n") || strings.Count(log, "listening on") != 1 {
		t.Errorf("the container's log does not have the line %q once:\n%s", first, log)
	}
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, prefix) && !strings.HasPrefix(line, "{") {
			t.Errorf("the line is neither the app's nor the bridge's: %s", line)
		}
	}
}

// TestJobEndsAsWithoutTheBridge runs jobs that wait until they have no children. The launcher starts no bridge for a
// command. A bridge that is asked for ends when the job waits for nothing else.
func TestJobEndsAsWithoutTheBridge(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	image := must(launched())(t)
	perl, err := exec.LookPath("perl")
	if err != nil {
		t.Skip(err)
	}
	flags := []string{"--entrypoint", launcher}
	for _, folder := range []string{"/usr", "/lib", "/lib64"} { // the image has no perl
		if _, err := os.Stat(folder); err == nil {
			flags = append(flags, "--volume", folder+":"+folder+":ro")
		}
	}
	const job = `for(1..3){my $p=fork; if(!$p){exit 0}} sleep 2; 1 while wait()!=-1; print "ended\n"`
	for variable, line := range map[string]string{
		"": "no bridge is started for a command of your own: if it serves gRPC, set " +
			"GRPC_HEALTH_BRIDGE_BACKGROUND=true",
		"GRPC_HEALTH_BRIDGE_BACKGROUND=true": "the app waits until it has no children: the bridge ends",
	} {
		t.Run(variable, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			out, err := platform.Once(ctx, image.Ref, append(slices.Clip(flags), "--env", cmp.Or(variable, "A=b")),
				"--", perl, "-e", job)
			if err != nil || !strings.Contains(out, "ended") || !strings.Contains(out, line) {
				t.Errorf("the job printed %q (%v), want %q", out, err, line)
			}
		})
	}
}

// TestLaunchedBridgeInRestrictedContainers has the launcher start the bridge under the restrictions that platforms put
// on containers, and below another first process.
func TestLaunchedBridgeInRestrictedContainers(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	image := must(launched())(t)
	for name, flags := range map[string][]string{
		"restricted": {
			"--user", "54321:0", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
			"--memory", "32m", "--cpus", "0.5", "--pids-limit", "64",
		},
		"init": {"--init"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := must(platform.RunWith(t.Context(), image, append(flags, bridgePort...)))(t)
			stopAfter(t, server)
			page := "http://" + must(platform.Port(t.Context(), server.Container, 8086))(t) + "/readyz"
			wantPage(t, page, http.StatusOK, "status: SERVING")
			log := must(platform.Logs(t.Context(), server.Container))(t)
			if !strings.Contains(log, "grpc_health_bridge: listening on ") {
				t.Errorf("the container's log does not say where the bridge listens:\n%s", log)
			}
		})
	}
}

// TestAppStartsWithoutTheBridge has two containers in one network, as in a pod: the second finds the bridge's port
// taken. Its app starts, and its log says why there is no bridge.
func TestAppStartsWithoutTheBridge(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	image := must(launched())(t)
	first := must(platform.RunWith(t.Context(), image, nil))(t)
	stopAfter(t, first)
	second := must(platform.Once(t.Context(), image.Ref, []string{
		"--detach", "--network", "container:" + first.Container,
	}, "-grpc=:5001", "-http=:8081"))(t)
	const why = `grpc_health_bridge: error: listening on ":8086": address already in use
grpc_health_bridge: hint: set -listen to a free port, such as :8087: pods with hostNetwork share those of the node
`
	deadline := time.After(time.Minute)
	for {
		log := must(platform.Logs(t.Context(), second))(t)
		if strings.Contains(log, why) && strings.Contains(log, `{"grpc":"[::]:5001"`) {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("the container's log does not have the app's line and\n%s\nbut\n%s", why, log)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
