package integration

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/integration/documents"
	"github.com/grpc-cnb/health-probe/integration/harness"
	"github.com/grpc-cnb/health-probe/integration/picture"
)

func TestDemo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ docker, path, words string }{
		"docker-always":       {"always", withPack(t), "from the PATH"},
		"docker-without-pack": {"always", withoutPack(t), "creator builds in Docker"},
		"docker-never":        {"never", withPack(t), "without Docker"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.docker == "always" {
				needDocker(t)
			}
			demo := exec.CommandContext(t.Context(), "go", "run", "./demo", "-docker="+test.docker)
			demo.Env = append(os.Environ(), "PATH="+test.path+":"+os.Getenv("PATH"))
			out, err := demo.CombinedOutput()
			if err != nil {
				t.Fatalf("running the demo: %v\n%s", err, out)
			}
			for _, want := range []string{
				test.words, "status: SERVING\nexit 0", "exit 4", "exit 2", "All as expected.",
			} {
				if !strings.Contains(string(out), want) {
					t.Errorf("the demo does not print %q:\n%s", want, out)
				}
			}
			if name == "docker-always" {
				wantPicture(t, string(out))
			}
		})
	}
}

// withPack returns a folder for the beginning of PATH with a pack that is new enough.
func withPack(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Symlink(must(fixture.Tool(t.Context(), "pack"))(t), filepath.Join(folder, "pack")); err != nil {
		t.Fatal(err)
	}
	return folder
}

// withoutPack returns a folder for the beginning of PATH in which pack is no program, as it is if nobody installed it.
func withoutPack(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Symlink(must(exec.LookPath("false"))(t), filepath.Join(folder, "pack")); err != nil {
		t.Fatal(err)
	}
	return folder
}

// wantPicture compares the picture in the README with what the demo prints. UPDATE_GOLDEN=1 draws it.
func wantPicture(t *testing.T, demo string) {
	t.Helper()
	const path = "../docs/demo.svg"
	want := must(picture.Draw(demo, must(documents.Version(".."))(t)))(t)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := must(os.ReadFile(path))(t); !bytes.Equal(got, want) {
		t.Errorf("%s is not what the demo prints (UPDATE_GOLDEN=1 draws it); it prints\n%s", path, demo)
	}
}

// TestNothingIsLeftOfAKilledRun kills the demo, by a signal that it cannot handle, while its app runs.
func TestNothingIsLeftOfAKilledRun(t *testing.T) {
	t.Parallel()
	needDocker(t)
	program, temp := filepath.Join(t.TempDir(), "demo"), t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program,
		"./demo").CombinedOutput(); err != nil {
		t.Fatalf("compiling the demo: %v\n%s", err, out)
	}
	demo := exec.Command(program, "-docker=always")
	demo.Env = append(os.Environ(), "TMPDIR="+temp, "PATH="+withPack(t)+":"+os.Getenv("PATH"))
	stdout := must(demo.StdoutPipe())(t)
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	var prefix string
	for lines := bufio.NewScanner(stdout); lines.Scan() && !strings.HasPrefix(lines.Text(), "exit 0"); {
		if image, ok := strings.CutPrefix(lines.Text(), "$ pack build "); ok {
			prefix, _, _ = strings.Cut(image, "/")
		}
	}
	if err := demo.Process.Kill(); err != nil || prefix == "" {
		t.Fatalf("killing the demo with the prefix %q: %v", prefix, err)
	}
	if err := demo.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Fatalf("the demo was not killed: it ended with %v", err)
	}
	label := "label=" + harness.OwnerLabel + "=" + prefix
	wantNothing(t, "temporary files", func() string { return fmt.Sprint(must(filepath.Glob(temp + "/*"))(t)) }, "[]")
	for _, list := range [][]string{
		{"ps", "--all", "--quiet", "--filter", label},
		{"images", "--all", "--quiet", "--filter", label},
		{"images", "--quiet", "--filter", "reference=" + prefix + "/*"},
		{"volume", "ls", "--quiet", "--filter", "name=" + prefix},
	} {
		wantNothing(t, "docker "+list[0], func() string {
			return string(must(exec.Command("docker", list...).Output())(t))
		}, "")
	}
}

// wantNothing waits up to a minute until nothing is left.
func wantNothing(t *testing.T, what string, left func() string, nothing string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); left() != nothing; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("left of %s: %s", what, left())
		}
	}
}

func TestDemoRefusesOtherValues(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "run", "./demo", "-docker=maybe").CombinedOutput()
	if err == nil || !strings.Contains(string(out), `"maybe" is not allowed: use auto, always or never`) {
		t.Errorf("the demo with -docker=maybe ended with %v:\n%s", err, out)
	}
}
