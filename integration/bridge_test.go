package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/grpc-cnb/health-probe/build/labeltest"
	"github.com/grpc-cnb/health-probe/integration/harness"
)

// bridgeLabel is the part of the image's label that is the bridge.
type bridgeLabel struct {
	Command []string
	Port    int
}

// TestBridge builds an image with the bridge, and runs the bridge in the network of the server, with the command that
// the label has.
func TestBridge(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	image := must(probed())(t)
	var programs []string
	for _, file := range must(image.Files())(t) {
		if path.Dir(file) == path.Dir(harness.ProbePath) {
			programs = append(programs, path.Base(file))
		}
	}
	slices.Sort(programs)
	wantEqual(t, image, "programs", programs, []string{"grpc-health-probe", "grpc_health_bridge", "grpc_health_probe"})
	wantInSBOM(t, platform, image, "probe", `"name":"grpc_health_probe"`, `"name":"grpc_health_bridge"`)

	text := must(image.Label(buildpackLabel))(t)
	if err := labeltest.Check(repository, text); err != nil {
		t.Error(err)
	}
	var label struct{ Bridge bridgeLabel }
	if err := json.Unmarshal([]byte(text), &label); err != nil {
		t.Fatal(err)
	}
	bridge := label.Bridge
	wantPasted(t, image, bridge)

	server := must(platform.RunWith(t.Context(), image, []string{"--publish", "127.0.0.1::8086"}))(t)
	stopAfter(t, server)
	// So much time that a busy machine changes no outcome.
	const connect, answer = "GRPC_HEALTH_PROBE_CONNECT_TIMEOUT=1m", "GRPC_HEALTH_PROBE_RPC_TIMEOUT=1m"
	must(platform.Once(t.Context(), image.Ref, []string{
		"--detach", "--network", "container:" + server.Container, "--env", connect, "--env", answer,
		"--entrypoint", bridge.Command[0],
	}, bridge.Command[1:]...))(t)
	pages := "http://" + must(platform.Port(t.Context(), server.Container, bridge.Port))(t)
	asked := []string{
		harness.ProbePath, fmt.Sprintf("-addr=localhost:%d", bridge.Port), "-connect-timeout=1m", "-rpc-timeout=1m",
	}
	wantPage(t, pages+"/readyz", http.StatusOK, "status: SERVING")
	wantExit(t, server, 0, asked...)
	flip(t, server, "/make-not-serving")
	wantPage(t, pages+"/readyz", http.StatusServiceUnavailable, "status is NOT_SERVING")
	wantPage(t, pages+"/livez", http.StatusOK, "")
	wantExit(t, server, 4, asked...)
	wantExit(t, server, 0, append(asked, "-service=live")...)
}

// wantPasted reads what the build log says to paste into a manifest, and compares it with the label.
func wantPasted(t *testing.T, image *harness.Image, want bridgeLabel) {
	t.Helper()
	_, after, _ := strings.Cut(image.Log, "Bridge: "+want.Command[0]+"\n")
	lines, _, _ := strings.Cut(after, "===>")           // the next phase of the build
	lines = strings.ReplaceAll(lines, "[builder] ", "") // how pack marks each line
	var got any
	if err := yaml.Unmarshal([]byte(lines), &got); err != nil {
		t.Fatalf("reading %q: %v", lines, err)
	}
	type object = map[string]any
	command := []any{}
	for _, word := range want.Command {
		command = append(command, word)
	}
	wantEqual(t, image, "lines in the log", got, any(object{
		"initContainers": []any{object{
			"name": "health-bridge", "image": "IMAGE", "restartPolicy": "Always", "command": command,
		}},
		"readinessProbe": object{"grpc": object{"port": want.Port}},
		"livenessProbe":  object{"grpc": object{"port": want.Port, "service": "live"}},
	}))
}

// wantPage asks the bridge over HTTP until the answer is so, for a minute.
func wantPage(t *testing.T, url string, status int, words string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		got, body, err := get(ctx, url)
		if got == status && strings.Contains(body, words) {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s answers %d with %q (%v), want %d with %q", url, got, body, err, status, words)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func get(ctx context.Context, url string) (status int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}
