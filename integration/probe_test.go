package integration

import (
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// TestExec executes the probe at its path in an image that has no shell and no libc.
func TestExec(t *testing.T) {
	eachPlatform(t, func(t *testing.T, platform harness.Platform) {
		image := must(platform.Build(t.Context(),
			harness.Build{Name: "exec", App: must(sample())(t), Buildpack: folder()}))(t)
		t.Run("states", func(t *testing.T) {
			server := serve(t, platform, image)
			wantState(t, server, "/make-serving", 0)
			wantState(t, server, "/make-not-serving", 4)
			wantState(t, server, "/make-serving", 0)
			wantState(t, server, "/stop-grpc", 2)
		})
		t.Run("failures", func(t *testing.T) {
			server := serve(t, platform, image)
			addr := "-addr=" + server.GRPC
			wantExit(t, server, 1, harness.ProbePath, addr, "-no-such-flag")
			wantExit(t, server, 1, harness.ProbePath, addr, "-tls-no-verify")
			wantExit(t, server, 2, harness.ProbePath, "-addr=localhost:1")
			wantExit(t, server, 3, harness.ProbePath, addr, "-service=unknown")
		})
		t.Run("no-health-service", func(t *testing.T) {
			server := serve(t, platform, image, "-no-health")
			wantExit(t, server, 3, harness.ProbePath, "-addr="+server.GRPC)
		})
		t.Run("second-name", func(t *testing.T) {
			server := serve(t, platform, image)
			second := strings.ReplaceAll(harness.ProbePath, "bin/grpc_health_probe", "bin/grpc-health-probe")
			wantExit(t, server, 0, second, "-addr="+server.GRPC)
		})
	})
}

func wantState(t *testing.T, server *harness.Server, control string, code int) {
	t.Helper()
	flip(t, server, control)
	wantExit(t, server, code, harness.ProbePath, "-addr="+server.GRPC)
}

// TestNoShell makes sure that the images of the other tests prove what they say.
func TestNoShell(t *testing.T) {
	eachPlatform(t, func(t *testing.T, platform harness.Platform) {
		image := must(platform.Build(t.Context(),
			harness.Build{Name: "bare", App: must(sample())(t), Buildpack: folder()}))(t)
		for _, name := range must(image.Files())(t) {
			if strings.Contains(name, "/lib") && strings.Contains(name, ".so") || strings.HasSuffix(name, "/sh") {
				t.Errorf("the image has %q", name)
			}
		}
	})
}
