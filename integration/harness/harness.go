// Package harness builds images of apps with the real lifecycle, runs them and executes programs in them, for the
// integration tests and the demo. In goes an app folder and a buildpack folder; out come the image, its running process
// and the exit codes of what was executed beside it.
//
// Begin with New, which compiles the lifecycle, then take one of the two roads: Kit.Docker is pack and Docker Engine,
// Kit.Phases the same lifecycle without either. No image is pulled on any road: the base images are made here, from
// scratch, or of a Debian's packages for the apps that take more than a static program (Kit.Debian).
package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Road is a way to build images and to run them.
type Road interface {
	// Build makes an image. A second build of the same name is a rebuild: the lifecycle may reuse layers of the first.
	Build(ctx context.Context, b Build) (*Image, error)
	// Run starts the image's default process with args and returns when it listens. The caller stops the server.
	Run(ctx context.Context, image *Image, args ...string) (*Server, error)
	// Close removes everything that the road made.
	Close() error
}

// Build says what to build.
type Build struct {
	Name      string    // a short name for the image, [a-z0-9-]
	App       string    // the app's folder; only read
	Buildpack string    // folder of the buildpack that joins the road's; empty for none. For Docker any URI that pack takes
	Env       []string  // build-time variables, NAME=value
	Log       io.Writer // gets what the build prints, while it does; may be nil
}

// Kit is what both roads need: the lifecycle, base images, the app buildpack, and a temporary folder to work in.
type Kit struct {
	lifecycle string // folder with lifecycle.toml and lifecycle/{analyzer,...,launcher}
	base      string // folder with the files of the base images
	procfile  string // folder of the app buildpack
	repo      string
	temp      string
	sweeper   *sweeper // of temp
	out       io.Writer

	compiling sync.Mutex // one tool at a time, so that nobody compiles what another already does
}

// New compiles what the repository at repo needs for integration tests, or takes it from dist/tools, where compiled
// tools are kept. Progress goes to out. Close the Kit after its roads.
func New(ctx context.Context, repo string, out io.Writer) (*Kit, error) {
	repo, err := filepath.Abs(repo)
	if err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "health-probe-")
	if err != nil {
		return nil, err
	}
	k := &Kit{repo: repo, temp: temp, out: out}
	if k.sweeper, err = newSweeper(nil, `rm -rf "$1"`, temp); err != nil {
		return nil, errors.Join(err, os.Remove(temp))
	}
	if err := errors.Join(k.addLifecycle(ctx), k.addBase(), k.addProcfile(ctx)); err != nil {
		return nil, errors.Join(err, k.Close())
	}
	return k, nil
}

// Close removes the temporary folder, as the end of this process does.
func (k *Kit) Close() error {
	return k.sweeper.close()
}

// Dist is the path of a file or folder that the repository's scripts made.
func (k *Kit) Dist(name string) string {
	return filepath.Join(k.repo, "dist", name)
}

// Step announces a step that takes long, and returns the function that says how long it took.
func (k *Kit) Step(format string, args ...any) (done func()) {
	start := time.Now()
	fmt.Fprintf(k.out, "-> "+format+"\n", args...)
	return func() { fmt.Fprintf(k.out, "   done in %.1f s\n", time.Since(start).Seconds()) }
}

// tempFolder makes a folder that Close removes.
func (k *Kit) tempFolder(name string) (string, error) {
	return os.MkdirTemp(k.temp, name+"-")
}

// run executes a command; its error carries all that the command printed.
func run(cmd *exec.Cmd) (string, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("running %q: %w\n%s", strings.Join(cmd.Args, " "), err, out.String())
	}
	return strings.TrimSpace(out.String()), nil
}
