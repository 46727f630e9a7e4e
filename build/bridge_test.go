package build

import (
	"strings"
	"testing"

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
