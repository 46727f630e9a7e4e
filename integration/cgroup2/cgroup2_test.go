// Package cgroup2 tests in a virtual machine what depends on the version of the kernel's control groups. The machine
// has version 2 alone, whatever this one has. There run the tests of what the probe knows of the container's sockets,
// of the bridge under a limit of memory, and of the bridge that a launcher starts. QEMU emulates the machine, the
// kernel is Debian's, and machine.sh and init.sh make the rest. It takes two minutes of one processor.
package cgroup2

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

//go:embed machine.sh
var machine string

//go:embed init.sh
var start string

// repository is the product's folder.
const repository = "../.."

// packages have the tests that run in the machine, each with the arguments that choose them.
var packages = []struct{ folder, arguments string }{
	{"internal/cgroup", ""},
	{"probe/discover", "-test.skip='TestServerOfASidecar/control_groups_of_version_1' -test.run='^(" +
		"TestRestrictions|TestUsersThatMayNotSeeTheApp|TestServerOfASidecar|TestGroupBelowTheContainers)$'"},
	{"probe/bridge/background", "-test.run='Starts?|Launcher'"},
	// The attacks that take most memory, for a second each.
	{"probe/bridge", "-test.run='^TestSiege$/^(unfinished_calls|connections|small_windows|PING|.*_not_read)$'"},
}

// TestOnVersion2 has the tests pass in the machine, all of them.
func TestOnVersion2(t *testing.T) {
	needs(t, "qemu-system-x86_64", "apt-get", "dpkg-deb")
	folder := t.TempDir()
	programs := filepath.Join(folder, "root", "tests")
	if err := os.MkdirAll(programs, 0o755); err != nil {
		t.Fatal(err)
	}
	script := start + "export BRIDGE_SIEGE_SECONDS=1\n"
	compile := []string{"test", "-c", "-ldflags=-s -w", "-o", programs}
	for _, p := range packages {
		compile = append(compile, "./"+p.folder)
		script += fmt.Sprintf("run %s.test %s\n", filepath.Base(p.folder), p.arguments)
	}
	run(t, repository, "go", compile...)
	run(t, repository, "go", "build", "-o", programs, "./cmd/grpc_health_bridge")
	if err := os.WriteFile(filepath.Join(folder, "root", "init"), []byte(script+"poweroff -f\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, folder, "sh", "-c", machine)
	console := run(t, folder, "qemu-system-x86_64", "-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot",
		"-cpu", "max", "-m", "2048", "-kernel", "vmlinuz", "-initrd", "initramfs",
		// The machine's time is what it executes, two nanoseconds an instruction. So deadlines in it hold however busy
		// this machine is, and nobody waits for its sleeps.
		"-accel", "tcg", "-icount", "shift=1,sleep=off",
		"-append", "console=ttyS0 loglevel=1 panic=-1 mitigations=off")
	t.Log(console)
	for _, p := range packages {
		if end := filepath.Base(p.folder) + ".test ends with 0\r\n"; !strings.Contains(console, end) {
			t.Errorf("%s fails in the machine, or does not end", p.folder)
		}
	}
	for _, empty := range []string{"--- SKIP", "no tests to run"} {
		if strings.Contains(console, empty) {
			t.Errorf("tests are left out in the machine: %q", empty)
		}
	}
}

// needs skips the test if one of the programs is missing. With CI=true it fails the test instead.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		_, err := exec.LookPath(program)
		switch {
		case err == nil:
		case os.Getenv("CI") == "true":
			t.Fatalf("CI=true needs %v", err)
		default:
			t.Skipf("left out: it needs %v", err)
		}
	}
}

// run runs a program in a folder, compilers for the machine, and returns what it prints.
func run(t *testing.T, folder, program string, words ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, words...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
	return string(out)
}
