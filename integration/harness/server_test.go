package harness

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
)

// The runtime may refuse to execute a program while the container's launcher becomes the app.
func TestExecIsRepeatedIfTheRuntimeRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		message string
		want    int
	}{
		"in execve":   {"OCI runtime exec failed: exec failed: cannot exec in a stopped container: unknown", 4},
		"not allowed": {"OCI runtime exec failed: exec: \"/probe\": permission denied: unknown", 126},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tried := filepath.Join(t.TempDir(), "tried")
			const script = `if [ -e "$0" ]; then exit 4; fi; touch "$0"; echo "$1"; exit 126`
			server := &Server{command: func(ctx context.Context, _ ...string) *exec.Cmd {
				return exec.CommandContext(ctx, "sh", "-c", script, tried, test.message)
			}}
			result, err := server.Exec(t.Context(), "/probe")
			if err != nil || result.Code != test.want {
				t.Errorf("exit code %d and error %v, want %d", result.Code, err, test.want)
			}
		})
	}
}
