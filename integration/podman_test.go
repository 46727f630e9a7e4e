package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// podman runs Podman with storage of its own.
type podman []string

// run runs podman with a command line and returns what it printed.
func (p podman) run(ctx context.Context, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "podman", slices.Concat(p, args)...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		err = errors.New(err.Error() + ": " + stderr.String())
	}
	return strings.TrimSpace(string(out)), err
}

// quadletHealth is the health check of the example for Quadlet, which gives it to podman run as --health-cmd.
var quadletHealth = regexp.MustCompile(`(?m)^HealthCmd=(.*)$`)

// TestPodmanHealth has Podman execute health checks in an image without a shell: as the example for Quadlet writes it,
// as a JSON array, and in the two ways that go through a shell, which docs/health-checks.md warns of.
func TestPodmanHealth(t *testing.T) {
	t.Parallel()
	p, image := newPodman(t)
	quadlet := must(os.ReadFile("../examples/podman/my-app.container"))(t)
	words := quadletHealth.FindSubmatch(quadlet)
	if words == nil {
		t.Fatal("the example for Quadlet has no HealthCmd")
	}
	for _, test := range []struct{ name, check, want, says string }{
		{"quadlet", string(words[1]), "healthy", "status: SERVING"},
		{"array", `["` + harness.ProbePath + `", "-v"]`, "healthy", "status: SERVING"},
		{"nobody-listens", "CMD " + harness.ProbePath + " -addr=localhost:1", "unhealthy", "connection refused"},
		{"array-of-one", `["` + harness.ProbePath + `"]`, "unhealthy", ""},
		{"words", harness.ProbePath + " -v", "unhealthy", ""},
	} {
		t.Run(test.name, func(t *testing.T) { // one after the other: Podman locks its storage
			must(p.run(t.Context(), "run", "--detach", "--pull", "never", "--name", test.name, "--network", "none",
				// A container cannot have higher limits than this process, which may not be allowed to raise them.
				"--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024",
				"--health-cmd", test.check, "--health-interval", "disable", "--health-retries", "1", image))(t)
			p.wantHealth(t, test.name, test.want, test.says)
		})
	}
}

// wantHealth makes checks until one has the wanted result and says something, or nothing at all if says is empty. Where
// systemd runs, Podman makes the checks by itself.
func (p podman) wantHealth(t *testing.T, container, want, says string) {
	t.Helper()
	var state struct {
		Status string
		Log    []harness.Check
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		_, _ = p.run(t.Context(), "healthcheck", "run", container) // exits 1 if the check fails
		text := must(p.run(t.Context(), "inspect", container, "--format", "{{json .State.Health}}"))(t)
		if err := json.Unmarshal([]byte(text), &state); err != nil {
			t.Fatal(err)
		}
		if state.Status != want {
			continue
		}
		output := state.Log[len(state.Log)-1].Output
		if says == "" && output == "" || says != "" && strings.Contains(output, says) {
			return
		}
	}
	t.Errorf("the container is %+v, want it %s, saying %q", state, want, says)
}

// newPodman returns a Podman that has an image of the sample app, and the image's name.
func newPodman(t *testing.T) (p podman, image string) {
	t.Helper()
	needDocker(t)
	if _, err := exec.LookPath("podman"); err != nil || os.Geteuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatalf("CI=true needs root and podman: %v", err)
		}
		t.Skip("left out: it needs root and the Debian package podman")
	}
	folder := t.TempDir()
	p = podman{
		"--root", filepath.Join(folder, "root"), "--runroot", filepath.Join(folder, "run"),
		"--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--events-backend", "file",
	}
	t.Cleanup(func() {
		if _, err := p.run(context.Background(), "rm", "--force", "--all", "--time", "0"); err != nil {
			t.Error(err)
		}
		waitForProcesses(t, folder)
	})
	archive := filepath.Join(folder, "image.tar")
	ref := must(probed())(t).Ref
	save := exec.CommandContext(t.Context(), "docker", "save", "--output", archive, ref)
	if out, err := save.CombinedOutput(); err != nil {
		t.Fatalf("saving %q: %v\n%s", ref, err, out)
	}
	loaded := must(p.run(t.Context(), "load", "--input", archive))(t)
	return p, loaded[strings.LastIndex(loaded, " ")+1:]
}

// waitForProcesses waits until no process has the folder in its command line. A container's monitor has Podman clean up
// after the container, and goes on with that when `podman rm` has returned.
func waitForProcesses(t *testing.T, folder string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		left := must(filepath.Glob("/proc/[0-9]*/cmdline"))(t)
		left = slices.DeleteFunc(left, func(file string) bool {
			command, err := os.ReadFile(file)
			return err != nil || !bytes.Contains(command, []byte(folder))
		})
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("processes of Podman still use %q after a minute", folder)
}
