package main

import (
	"debug/elf"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts run the buildpack as the lifecycle does: the program by the names detect and build, in the app's folder,
// with the CNB_* variables set.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"detect": main, "build": main})
}

func TestPhases(t *testing.T) {
	buildpack := t.TempDir()
	makeBuildpack(t, buildpack)
	runScripts(t, "testdata/script", buildpack)
}

// Compiling takes the folder that scripts/build.sh makes, with the probes' source in it.
func TestCompiling(t *testing.T) {
	buildpack := filepath.Join(t.TempDir(), "buildpack")
	build := exec.Command("../../scripts/build.sh", runtime.GOARCH, buildpack)
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("making the buildpack: %v\n%s", err, said)
	}
	runScripts(t, "testdata/compile", buildpack)
}

// What scripts/build.sh did not make, it does not replace.
func TestBuildScriptKeepsOtherFolders(t *testing.T) {
	folder := t.TempDir()
	kept := filepath.Join(folder, "buildpack.toml")
	if err := os.WriteFile(kept, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command("../../scripts/build.sh", runtime.GOARCH, folder).CombinedOutput(); err == nil {
		t.Errorf("it made a buildpack of a folder that is not its own:\n%s", said)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}

func runScripts(t *testing.T, dir, buildpack string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		UpdateScripts: *update,
		Dir:           dir,
		Setup: func(env *testscript.Env) error {
			env.Setenv("CNB_BUILDPACK_DIR", buildpack)
			env.Setenv("BUILD", filepath.Join(buildpack, "bin", "build"))
			env.Setenv("CNB_TARGET_OS", "linux")
			env.Setenv("CNB_TARGET_ARCH", "amd64")
			env.Setenv("CNB_PLATFORM_DIR", filepath.Join(env.WorkDir, "platform"))
			env.Setenv("CNB_LAYERS_DIR", filepath.Join(env.WorkDir, "layers", "grpc-cnb_health-probe"))
			env.Setenv("CNB_BUILD_PLAN_PATH", filepath.Join(env.WorkDir, "plan.toml"))
			env.Setenv("CNB_BP_PLAN_PATH", filepath.Join(env.WorkDir, "plan.toml"))
			return errors.Join(os.MkdirAll(env.Getenv("CNB_LAYERS_DIR"), 0o755), startGitHub(env))
		},
		Cmds: commands,
	})
}

// commands are what the scripts have beside testscript's own; those of one system are in its file.
var commands = map[string]func(*testscript.TestScript, bool, []string){
	"plain": plain, "elf": elfMachine, "tree": tree, "github": behave, "received": received, "program": makeProgram, "zip": makeZip,
	"await": await, "handover": handOver,
}

var update = flag.Bool("update", false, "write the scripts' golden files anew")

// Downloading is tested against a small GitHub, whose releases are the files below the script's folder github, and whose
// platforms' programs are those of the bundled probes.
func TestDownloading(t *testing.T) {
	buildpack := t.TempDir()
	makeBuildpack(t, buildpack)
	runScripts(t, "testdata/download", buildpack)
}

// makeBuildpack lays out the folder that scripts/build.sh makes, but for the program, which is the test itself.
func makeBuildpack(t *testing.T, dir string) {
	t.Helper()
	descriptor, err := os.ReadFile("../../buildpack.toml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "buildpack.toml"), descriptor, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, arch := range []string{"amd64", "arm64"} {
		out := filepath.Join(dir, "probes", "linux-"+arch) + "/"
		compile := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, "../grpc_health_probe", "../grpc_health_probe_full")
		compile.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
		if said, err := compile.CombinedOutput(); err != nil {
			t.Fatalf("compiling the probe for %s: %v\n%s", arch, err, said)
		}
	}
}

var (
	colours = regexp.MustCompile("\x1b\\[[0-9;]*m")
	version = regexp.MustCompile(`v[0-9]+\.[0-9]+\.[0-9]+[-+.0-9a-z]*|\(devel\)`)
	title   = regexp.MustCompile(`(?m)^(gRPC Health Probe) \S+$`)
)

// plain is the command "plain stdout|stderr FILE": it writes what the last program printed to FILE, without colours, and
// with VERSION for the probe's version, which is that of the checkout, and for the buildpack's.
func plain(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: plain stdout|stderr FILE")
	}
	text := colours.ReplaceAllString(ts.ReadFile(args[0]), "")
	text = title.ReplaceAllString(version.ReplaceAllString(text, "VERSION"), "$1 VERSION")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o644))
}

// tree is the command "tree DIR FILE": it writes the mode and name of all in DIR to FILE.
func tree(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: tree DIR FILE")
	}
	var lines []byte
	dir := ts.MkAbs(args[0])
	ts.Check(filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := entry.Info()
		name, _ := filepath.Rel(dir, path)
		lines = fmt.Appendf(lines, "%v %s\n", info.Mode(), name)
		return err
	}))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), lines, 0o644))
}

// elfMachine is the command "elf MACHINE FILE": it fails unless FILE is a program for MACHINE.
func elfMachine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: elf MACHINE FILE")
	}
	program, err := elf.Open(ts.MkAbs(args[1]))
	ts.Check(err)
	defer program.Close()
	if got := program.Machine.String(); got != args[0] {
		ts.Fatalf("%s is for %s", args[1], got)
	}
}
