package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The script runs the program that it compiles, as users do.
func runDemo(t *testing.T, dir string, args ...string) (output string, code int) {
	t.Helper()
	return runScript(t, dir, "demo.sh", args...)
}

// runScript runs a script in a directory.
func runScript(t *testing.T, dir, name string, args ...string) (output string, code int) {
	t.Helper()
	script, err := filepath.Abs(filepath.Join("../../scripts", name))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), script, args...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return colours.ReplaceAllString(string(out), ""), exit.ExitCode()
	}
	if err != nil {
		t.Fatalf("running the script: %v\n%s", err, out)
	}
	return colours.ReplaceAllString(string(out), ""), 0
}

var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

const healthy = `package main

import (
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
)

func main() {
	listener, _ := net.Listen("tcp", ":5000")
	server := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	server.Serve(listener)
}
`

func TestDemoInspectsAFolder(t *testing.T) {
	parent := t.TempDir()
	for name, source := range map[string]string{
		"healthy": healthy, "bare": bare(healthy), "nothing": "package main\n\nfunc main() {}\n",
	} {
		write(t, filepath.Join(parent, name, "main.go"), source)
		write(t, filepath.Join(parent, name, "go.mod"), "module example.com/"+name+"\n")
	}
	for name, test := range map[string]struct {
		args  []string
		code  int
		wants []string
	}{
		"server with health": {[]string{"healthy"}, exitFound, []string{
			"gRPC server found: Go, grpc-go (main.go:13)", "health service registered (main.go:14)", "port 5000",
			`command: ["/layers/grpc-cnb_health-probe/probe/bin/grpc_health_probe"]`, "timeoutSeconds: 4",
		}},
		"absolute path": {[]string{filepath.Join(parent, "healthy")}, exitFound, []string{"gRPC server found"}},
		"server without health": {[]string{"bare"}, exitFound, []string{
			"gRPC server found: Go, grpc-go", "Warning: probes of the server at",
			"the probe finds it in the running container",
		}},
		"no server":   {[]string{"nothing"}, exitNothing, []string{"No gRPC server found", "docs/detection.md"}},
		"no folder":   {[]string{"missing"}, exitError, []string{"'missing' is not a folder"}},
		"a file":      {[]string{"nothing/main.go"}, exitError, []string{"is not a folder"}},
		"two folders": {[]string{"nothing", "bare"}, exitError, []string{"name one folder"}},
		"help":        {[]string{"--help"}, 0, []string{"scripts/demo.sh FOLDER", "Exit codes"}},
	} {
		t.Run(name, func(t *testing.T) {
			out, code := runDemo(t, parent, test.args...)
			if code != test.code {
				t.Errorf("exit code %d, want %d:\n%s", code, test.code, out)
			}
			for _, want := range test.wants {
				if !strings.Contains(out, want) {
					t.Errorf("it does not print %q:\n%s", want, out)
				}
			}
		})
	}
}

// What is wrong or missing is said before anything is compiled: on these machines Go is missing or old, and a Docker is
// asked for that does not answer.
func TestScriptsTellMistakesFirst(t *testing.T) {
	parent := t.TempDir()
	write(t, filepath.Join(parent, "app/main.go"), healthy)
	for name, test := range map[string]struct {
		goVersion string // empty for none
		script    string
		args      []string
		code      int
		want      string
	}{
		"demo, wrong value":   {"", "demo.sh", docker("maybe"), 2, "-docker=maybe is not allowed: use auto, always"},
		"demo, wrong option":  {"", "demo.sh", []string{"--gone"}, 2, "'--gone' is not an option"},
		"demo, no Docker":     {"", "demo.sh", docker("always"), 2, "needs Docker, and none answers"},
		"demo, no Go":         {"", "demo.sh", docker("never"), 2, "1.26, and none is on the PATH: https://go.dev/dl"},
		"demo, old Go":        {"go1.25.3", "demo.sh", docker("never"), 2, "needs Go 1.26, and here is go1.25.3:"},
		"folder, no Go":       {"", "demo.sh", []string{"app"}, 2, "needs Go 1.26"},
		"folder, old Go":      {"go1.9", "demo.sh", []string{"app"}, 2, "needs Go 1.26, and here is go1.9:"},
		"tests, no part":      {"", "test.sh", []string{"gone"}, 1, "'gone' is neither a part nor a tier"},
		"tests, two tiers":    {"", "test.sh", []string{"--all", "--platforms"}, 1, "'--all' is neither a part"},
		"tests, no Go":        {"", "test.sh", nil, 1, "scripts/test.sh: needs Go 1.26"},
		"tests, old Go":       {"go1.25", "test.sh", []string{"linters"}, 1, "needs Go 1.26, and here is go1.25:"},
		"tests, no compiler":  {"go1.26.0", "test.sh", []string{"race"}, 1, "the race detector needs a C compiler"},
		"build, no Go":        {"", "build.sh", nil, 1, "scripts/build.sh: needs Go 1.26"},
		"build, old Go":       {"go1.25", "build.sh", nil, 1, "needs Go 1.26, and here is go1.25:"},
		"build, architecture": {"", "build.sh", []string{"mips"}, 1, "'mips' is not a target"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", fewPrograms(t, test.goVersion))
			t.Setenv("CI", "")
			out, code := runScript(t, parent, test.script, test.args...)
			if code != test.code || !strings.Contains(out, test.want) || strings.Contains(out, "compiling") {
				t.Errorf("exit code %d, want %d with %q and nothing compiled:\n%s", code, test.code, test.want, out)
			}
		})
	}
}

func docker(value string) []string { return []string{"-docker=" + value} }

// fewPrograms returns a PATH with what scripts need to see what is missing, and with a Go of a version, unless that is
// empty.
func fewPrograms(t *testing.T, goVersion string) string {
	t.Helper()
	path := t.TempDir()
	for _, program := range []string{"bash", "dirname", "sed", "git", "grep", "uname", "id"} {
		found, err := exec.LookPath(program)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(found, filepath.Join(path, program)); err != nil {
			t.Fatal(err)
		}
	}
	if goVersion != "" {
		script := "#!" + filepath.Join(path, "bash") + "\necho " + goVersion + "\n"
		if err := os.WriteFile(filepath.Join(path, "go"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// Settings of the build apply, as in a build.
func TestDemoReadsSettings(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "app/main.go"), healthy)
	t.Setenv("BP_GRPC_HEALTH_PROBE_DETECT_PORT", "false")
	t.Setenv("BP_GRPC_HEALTH_PROBE_DISCOVER", "false")
	if out, code := runDemo(t, dir, "app"); code != exitFound || !strings.Contains(out, `"-addr=localhost:5000"`) {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	t.Setenv("BP_GRPC_HEALTH_PROBE_ENABLED", "false")
	if out, code := runDemo(t, dir, "app"); code != exitNothing || !strings.Contains(out, "ENABLED is false") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	t.Setenv("BP_GRPC_HEALTH_PROBE_ENABLED", "auto")
	t.Setenv("BP_GRPC_HEALTH_PROBE_DETECT_PORT", "maybe")
	if out, code := runDemo(t, dir, "app"); code != exitError || !strings.Contains(out, "maybe") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// bare returns the source without its health service and its port.
func bare(source string) string {
	for _, line := range []string{
		"\t\"google.golang.org/grpc/health\"\n", "\t\"google.golang.org/grpc/health/grpc_health_v1\"\n",
		"\tgrpc_health_v1.RegisterHealthServer(server, health.NewServer())\n",
	} {
		source = strings.ReplaceAll(source, line, "")
	}
	return strings.ReplaceAll(source, `":5000"`, "address()")
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
