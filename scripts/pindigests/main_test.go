package main

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/build/executable/executabletest"
	"github.com/grpc-cnb/health-probe/build/github/githubtest"
	"github.com/grpc-cnb/health-probe/internal/config"
)

// TestMain lets the test run this program as a process of its own, whose environment leads it to the tests' GitHub.
func TestMain(m *testing.M) {
	if os.Getenv("PINDIGESTS_OF_THE_TEST") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// The product's own descriptor gets a digest for each target, twice the same, and none if one file is wrong.
func TestDigestsAreWritten(t *testing.T) {
	dir := t.TempDir()
	github, err := githubtest.New(filepath.Join(dir, "github"), filepath.Join(dir, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	defer github.Close()
	release := filepath.Join(dir, "github/grpc-ecosystem/grpc-health-probe", config.DefaultRelease,
		"grpc_health_probe-linux-")
	write(t, release+"amd64", executabletest.File{Machine: elf.EM_X86_64}.Bytes())
	write(t, release+"arm64", executabletest.File{Machine: elf.EM_AARCH64}.Bytes())
	before, err := os.ReadFile("../../buildpack.toml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "buildpack.toml")
	write(t, file, before)
	const want = begin + `

[[metadata.pins]]
repo = "grpc-ecosystem/grpc-health-probe"
tag = "` + config.DefaultRelease + `"
asset = "grpc_health_probe-linux-amd64"
sha256 = "87858b6b4d11ebf4caff9c548fb26bd9da6dea051cc22b61006afb180c2793a3"

[[metadata.pins]]
repo = "grpc-ecosystem/grpc-health-probe"
tag = "` + config.DefaultRelease + `"
asset = "grpc_health_probe-linux-arm64"
sha256 = "ARM64"
`
	for range 2 {
		if output, err := run(github, file); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		after := read(t, file)
		head, pins, _ := strings.Cut(after, begin)
		if !strings.HasPrefix(string(before), head) {
			t.Errorf("it changed more than the digests:\n%s", after)
		}
		i := strings.LastIndex(pins, `sha256 = "`) + len(`sha256 = "`)
		if got := begin + pins[:i] + "ARM64" + pins[i+64:]; got != want {
			t.Errorf("it wrote\n%s\nwant\n%s", got, want)
		}
	}

	pinned := read(t, file)
	write(t, release+"arm64", executabletest.File{Machine: elf.EM_X86_64}.Bytes())
	output, err := run(github, file)
	if err == nil || !strings.Contains(output, "it is for another architecture: amd64, the image is for arm64") {
		t.Errorf("it takes a wrong file: %v\n%s", err, output)
	}
	if read(t, file) != pinned {
		t.Error("it wrote the file in spite of an error")
	}
}

func run(github *githubtest.Server, file string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	command := exec.Command(self, file)
	command.Env = append(append(os.Environ(), github.Env()...), "PINDIGESTS_OF_THE_TEST=1")
	output, err := command.CombinedOutput()
	return string(output), err
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
