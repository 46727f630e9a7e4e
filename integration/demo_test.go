package integration

import (
	"os/exec"
	"strings"
	"testing"
)

func TestDemo(t *testing.T) {
	t.Parallel()
	for road, words := range map[string]string{"always": "with Docker", "never": "without Docker"} {
		t.Run("docker-"+road, func(t *testing.T) {
			t.Parallel()
			if road == "always" {
				needDocker(t)
			}
			out, err := exec.CommandContext(t.Context(), "go", "run", "./demo", "-docker="+road).CombinedOutput()
			if err != nil {
				t.Fatalf("running the demo: %v\n%s", err, out)
			}
			for _, want := range []string{words, "status: SERVING\nexit 0", "exit 4", "exit 2", "All as expected."} {
				if !strings.Contains(string(out), want) {
					t.Errorf("the demo does not print %q:\n%s", want, out)
				}
			}
		})
	}
}

func TestDemoRefusesOtherRoads(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "run", "./demo", "-docker=maybe").CombinedOutput()
	if err == nil || !strings.Contains(string(out), `"maybe" is not allowed: use auto, always or never`) {
		t.Errorf("the demo with -docker=maybe ended with %v:\n%s", err, out)
	}
}
