package main

import (
	"bytes"
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
	"strings"
	"sync"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/buildpacks/libcnb/v2"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/grpc-cnb/health-probe/build/labeltest"
	"github.com/grpc-cnb/health-probe/internal/config"
)

// The scripts run the buildpack as the lifecycle does: the program by the names detect and build, in the app's folder,
// with the CNB_* variables set.
func TestMain(m *testing.M) {
	// Most scripts wait, for a GitHub that does not answer, more than they work.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	testscript.Main(tests{m}, map[string]func(){"detect": main, "build": buildWithValidLabel})
}

// buildWithValidLabel is the program build. After a build that succeeded it fails if the label that it wrote for the
// image is not as docs/label.schema.json describes it, which is checked in each script so.
func buildWithValidLabel() {
	main()
	if err := checkLabel(os.Getenv("CNB_LAYERS_DIR"), os.Getenv(repositoryEnv)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// repositoryEnv is the variable of the scripts that holds the repository's folder.
const repositoryEnv = "REPOSITORY"

// checkLabel checks the label in the launch.toml of a build, if the build contributed the probe.
func checkLabel(layers, repository string) error {
	if _, err := os.Stat(filepath.Join(layers, "probe.toml")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var launch libcnb.LaunchTOML
	if _, err := toml.DecodeFile(filepath.Join(layers, "launch.toml"), &launch); err != nil {
		return fmt.Errorf("reading what the build says of the image: %w", err)
	}
	if len(launch.Labels) != 1 {
		return fmt.Errorf("the image has the labels %v, want one", launch.Labels)
	}
	return labeltest.Check(repository, launch.Labels[0].Value)
}

// tests are the tests, with the buildpack's folder that they share.
type tests struct{ *testing.M }

// Run runs the tests and removes the folder.
func (t tests) Run() int {
	defer os.RemoveAll(buildpackParent)
	return t.M.Run()
}

// buildpackParent is the temporary folder with the buildpack's folder in it.
var buildpackParent string

// buildpackFolder makes the buildpack's folder, once.
var buildpackFolder = sync.OnceValues(func() (string, error) {
	var err error
	if buildpackParent, err = os.MkdirTemp("", "buildpack"); err != nil {
		return "", err
	}
	folder := filepath.Join(buildpackParent, "buildpack")
	if output, err := exec.Command("../../scripts/build.sh", runtime.GOARCH, folder).CombinedOutput(); err != nil {
		return "", fmt.Errorf("making the buildpack: %w\n%s", err, output)
	}
	return folder, setDefaultRelease(filepath.Join(folder, "buildpack.toml"))
})

// setDefaultRelease gives a buildpack.toml the default release that the scripts' GitHub has, whatever the product's is.
func setDefaultRelease(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	scripts := bytes.ReplaceAll(text, []byte(config.DefaultRelease), []byte("v0.4.56"))
	return os.WriteFile(file, scripts, 0o644)
}

func TestPhases(t *testing.T) {
	t.Parallel()
	runScripts(t, "testdata/script")
}

// Compiling takes the source of the probes, which is in the buildpack's folder.
func TestCompiling(t *testing.T) {
	t.Parallel()
	runScripts(t, "testdata/compile")
}

// Downloading is tested against a small GitHub, whose releases are the files below the script's folder github.
func TestDownloading(t *testing.T) {
	t.Parallel()
	runScripts(t, "testdata/download")
}

// scripts/build.sh does not replace a folder that it did not make.
func TestBuildScriptKeepsOtherFolders(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	kept := filepath.Join(folder, "buildpack.toml")
	if err := os.WriteFile(kept, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.Command("../../scripts/build.sh", runtime.GOARCH, folder).CombinedOutput(); err == nil {
		t.Errorf("it made a buildpack of a folder that is not its own:\n%s", output)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}

func runScripts(t *testing.T, dir string) {
	t.Helper()
	buildpack, err := buildpackFolder()
	if err != nil {
		t.Fatal(err)
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		UpdateScripts: os.Getenv("UPDATE_GOLDEN") != "",
		Dir:           dir,
		Setup: func(env *testscript.Env) error {
			env.Setenv("CNB_BUILDPACK_DIR", buildpack)
			env.Setenv("BUILD", filepath.Join(buildpack, "bin", "build"))
			env.Setenv(repositoryEnv, repository)
			env.Setenv("CNB_TARGET_OS", "linux")
			env.Setenv("CNB_TARGET_ARCH", "amd64")
			env.Setenv("CNB_PLATFORM_DIR", filepath.Join(env.WorkDir, "platform"))
			env.Setenv("CNB_LAYERS_DIR", filepath.Join(env.WorkDir, "layers", "grpc-cnb_health-probe"))
			env.Setenv("CNB_BUILD_PLAN_PATH", filepath.Join(env.WorkDir, "plan.toml"))
			env.Setenv("CNB_BP_PLAN_PATH", filepath.Join(env.WorkDir, "plan.toml"))
			env.Setenv("MACHINE_GOCACHE", strings.TrimSpace(string(cache)))
			env.Setenv("GOGC", "800") // hundreds of programs, whose garbage at start takes a fifth of their time
			return errors.Join(os.MkdirAll(env.Getenv("CNB_LAYERS_DIR"), 0o755), startGitHub(env))
		},
		Cmds: commands,
	})
}

// commands are the commands that scripts have beside those of testscript.
var commands = map[string]func(*testscript.TestScript, bool, []string){
	"plain": plain, "elf": elfMachine, "tree": tree, "github": behave, "received": received,
	"program": makeProgram, "zip": makeZip, "await": await, "handover": handOver, "removesfirst": removesFirst,
}

var (
	colours = regexp.MustCompile("\x1b\\[[0-9;]*m")
	version = regexp.MustCompile(`v[0-9]+\.[0-9]+\.[0-9]+[-+.0-9a-z]*|\(devel\)`)
	title   = regexp.MustCompile(`(?m)^(gRPC Health Probe) \S+$`)
)

// plain is the command "plain stdout|stderr FILE": it writes what the last program printed to FILE, without colours.
// The versions of the probe and of the buildpack, which change, become VERSION.
func plain(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: plain stdout|stderr FILE")
	}
	text := colours.ReplaceAllString(ts.ReadFile(args[0]), "")
	text = title.ReplaceAllString(version.ReplaceAllString(text, "VERSION"), "$1 VERSION")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o644))
}

// tree is the command "tree DIR FILE": it writes the mode and the name of everything in DIR to FILE.
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
