package integration

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/grpc-cnb/health-probe/integration/picture"
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
			if road == "always" {
				wantPicture(t, string(out))
			}
		})
	}
}

// wantPicture compares the picture in the README with what the demo prints. UPDATE_GOLDEN=1 draws it.
func wantPicture(t *testing.T, demo string) {
	t.Helper()
	const path = "../docs/demo.svg"
	want := must(picture.Draw(demo, productVersion(t)))(t)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := must(os.ReadFile(path))(t); !bytes.Equal(got, want) {
		t.Errorf("%s is not what the demo prints (scripts/picture.sh draws it); it prints\n%s", path, demo)
	}
}

// productVersion is the version in buildpack.toml.
func productVersion(t *testing.T) string {
	t.Helper()
	var descriptor struct{ Buildpack struct{ Version string } }
	if _, err := toml.DecodeFile("../buildpack.toml", &descriptor); err != nil {
		t.Fatal(err)
	}
	return descriptor.Buildpack.Version
}

func TestDemoRefusesOtherRoads(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "run", "./demo", "-docker=maybe").CombinedOutput()
	if err == nil || !strings.Contains(string(out), `"maybe" is not allowed: use auto, always or never`) {
		t.Errorf("the demo with -docker=maybe ended with %v:\n%s", err, out)
	}
}
