package build

import (
	"testing"

	"github.com/grpc-cnb/health-probe/build/execprobe"
	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// A server that waits for its client must be asked beside one that speaks first, so it is not left alone.
func TestOnlyServerThatSpeaksFirstIsAlone(t *testing.T) {
	t.Parallel()
	waits, speaks := plan.Server{Language: "go"}, plan.Server{Language: "go", SpeaksFirst: true}
	for name, test := range map[string]struct {
		servers []plan.Server
		want    bool
	}{
		"none":                  {nil, false},
		"one that waits":        {[]plan.Server{waits}, false},
		"one that speaks first": {[]plan.Server{speaks}, true},
		"two that speak first":  {[]plan.Server{speaks, speaks}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers := plan.List(test.servers)
			all := programs{bridge: new(program)}
			settings := settings{Config: config.Config{DetectPort: true}}
			found := foundAddress(settings, all, servers, execprobe.ServerOf(servers, nil))
			if found.Alone != test.want {
				t.Errorf("alone is %t, want %t", found.Alone, test.want)
			}
		})
	}
}
