package build

import (
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/build/execprobe"
	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/probe/bridge/bridgeflags"
)

// The lines to paste have variables for the flags that the bridge needs in the app's container, and none without them.
func TestManifestOfLaunchedBridge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		words []string
		want  string
	}{
		{nil, ""},
		{
			[]string{"-addr=localhost:5000", "-tls"},
			`env: [{name: GRPC_HEALTH_PROBE_ADDR, value: "localhost:5000"}, ` +
				`{name: GRPC_HEALTH_PROBE_TLS, value: "true"}]`,
		},
	} {
		b := &bridge{Start: startedByLauncher, Port: bridgeflags.Port, flags: c.words}
		got := ""
		for _, line := range b.manifest() {
			if strings.Contains(line, "env:") {
				got += line
			}
		}
		if got != c.want {
			t.Errorf("with %q it has %q, want %q", c.words, got, c.want)
		}
	}
}

// A bridge of a server that sets statuses of named services asks for the one for readiness, and the liveness probe asks
// it for the one for liveness.
func TestManifestForNamedServices(t *testing.T) {
	t.Parallel()
	defaults, err := execprobe.Defaults(nil)
	if err != nil {
		t.Fatal(err)
	}
	for liveness, want := range map[string]string{"alive": "service: alive}}", "": "service: live}}"} {
		exec := execprobe.New(execprobe.Given{
			Path: execprobe.ImagePath, Defaults: defaults, ReadsAddress: true,
			Server: plan.Server{Language: "go", Service: "readiness", Liveness: liveness},
		})
		b := newBridge(exec, &program{name: "grpc_health_bridge"}, config.Config{Bridge: config.BridgeLaunch}, true)
		lines := strings.Join(b.manifest(), "\n")
		const env = `env: [{name: GRPC_HEALTH_PROBE_SERVICE, value: "readiness"}]`
		if !strings.Contains(lines, want) || !strings.Contains(lines, env) {
			t.Errorf("with the liveness service %q the lines are:\n%s\nwant %q and %q", liveness, lines, want, env)
		}
	}
}
