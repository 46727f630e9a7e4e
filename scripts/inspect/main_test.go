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
	script, err := filepath.Abs("../demo.sh")
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
			`command: ["/layers/grpc-cnb_health-probe/probe/bin/grpc_health_probe"]`, "timeoutSeconds: 3",
		}},
		"absolute path": {[]string{filepath.Join(parent, "healthy")}, exitFound, []string{"gRPC server found"}},
		"server without health": {[]string{"bare"}, exitFound, []string{
			"gRPC server found: Go, grpc-go", "Warning: every probe will exit 3 until", "-addr=localhost:50051",
			"the port of your gRPC server",
		}},
		"no server":   {[]string{"nothing"}, exitNothing, []string{"No gRPC server found", "docs/detection.md"}},
		"no folder":   {[]string{"missing"}, exitError, []string{"error: looking for the app", "missing"}},
		"a file":      {[]string{"nothing/main.go"}, exitError, []string{"is no folder"}},
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

// Settings of the build apply, as in a build.
func TestDemoReadsSettings(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "app/main.go"), healthy)
	t.Setenv("BP_GRPC_HEALTH_PROBE_DETECT_PORT", "false")
	if out, code := runDemo(t, dir, "app"); code != exitFound || !strings.Contains(out, `"-addr=localhost:5000"`) {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	t.Setenv("BP_GRPC_HEALTH_PROBE_ENABLED", "false")
	if out, code := runDemo(t, dir, "app"); code != exitNothing || !strings.Contains(out, "no probe, as it was set") {
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
