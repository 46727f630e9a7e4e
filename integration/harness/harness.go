// Package harness builds images of apps with the real lifecycle, runs them and executes programs in them, for the
// integration tests and the demo. In goes an app folder and a buildpack folder; out come the image, its running process
// and the exit codes of what was executed beside it.
//
// Begin with New, which compiles the lifecycle, then take one of the platforms: Fixture.Docker is pack and Docker
// Engine, Fixture.Creator the lifecycle's creator in Docker Engine without pack, Fixture.Phases the same lifecycle
// without either. No image is pulled on any platform: the base images are made here, from scratch, or of a Debian's
// packages for the apps that take more than a static program (Fixture.Debian).
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

// Platform builds images and runs them, as a platform of the buildpack spec does: pack with Docker, or the lifecycle
// alone.
type Platform interface {
	// Build makes an image. A second build with the same name is a rebuild, in which the lifecycle may reuse layers of
	// the first one.
	Build(ctx context.Context, b Build) (*Image, error)
	// Run starts the image's default process with args and returns when it listens. The caller stops the server.
	Run(ctx context.Context, image *Image, args ...string) (*Server, error)
	// Close removes everything that the platform made.
	Close() error
}

// Build says what to build.
type Build struct {
	Name string // a short name for the image, [a-z0-9-]
	App  string // the app's folder; only read
	// folder of the buildpack that joins the platform's; empty for none. For Docker any URI that pack takes
	Buildpack string
	Env       []string  // build-time variables, NAME=value
	Log       io.Writer // gets what the build prints, while it does; may be nil
}

// Fixture is what both platforms need: the lifecycle, base images, the app buildpack, and a temporary folder to work
// in.
type Fixture struct {
	lifecycle string // folder with lifecycle.toml and lifecycle/{analyzer,...,launcher}
	base      string // folder with the files of the base images
	procfile  string // folder of the app buildpack
	pack      string // the program that UsePack named; empty for the one that is compiled
	repo      string
	temp      string
	sweeper   *sweeper // of temp
	out       io.Writer

	compiling sync.Mutex // one tool at a time, so that nobody compiles what another already does

	committing sync.Mutex
	committed  string // the commit of the clones
}

// New compiles the tools that the integration tests of the repository at repo need, or takes them from dist/tools,
// where earlier runs have left them. It writes its progress to out. Close the platforms before the Fixture.
func New(ctx context.Context, repo string, out io.Writer) (*Fixture, error) {
	repo, err := filepath.Abs(repo)
	if err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "health-probe-")
	if err != nil {
		return nil, err
	}
	k := &Fixture{repo: repo, temp: temp, out: out}
	if k.sweeper, err = newSweeper(nil, `rm -rf "$1"`, temp); err != nil {
		return nil, errors.Join(err, os.Remove(temp))
	}
	if err := errors.Join(k.addLifecycle(ctx), k.addBase(), k.addProcfile(ctx)); err != nil {
		return nil, errors.Join(err, k.Close())
	}
	return k, nil
}

// Close removes the temporary folder. It is also removed if this process ends without Close.
func (k *Fixture) Close() error {
	return k.sweeper.close()
}

// Repository returns the folder of the repository.
func (k *Fixture) Repository() string { return k.repo }

// Dist returns the path of a file or folder in dist, where the repository's scripts put what they make.
func (k *Fixture) Dist(name string) string {
	return filepath.Join(k.repo, "dist", name)
}

// Step announces a step that takes long, and returns the function that says how long it took.
func (k *Fixture) Step(format string, args ...any) (done func()) {
	start := time.Now()
	fmt.Fprintf(k.out, "-> "+format+"\n", args...)
	return func() { fmt.Fprintf(k.out, "   done in %.1f s\n", time.Since(start).Seconds()) }
}

// LongStep is Step for what may take minutes and prints nothing. A terminal has one line that counts the seconds; other
// outputs get a line each minute, so that nobody takes the step for one that hangs.
func (k *Fixture) LongStep(format string, args ...any) (done func()) {
	start := time.Now()
	finish := k.Step(format, args...)
	every, line := time.Minute, "   %.0f s so far\n"
	if isTerminal(k.out) {
		every, line = time.Second, "   %.0f s so far\r"
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				fmt.Fprintf(k.out, line, time.Since(start).Seconds())
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
		finish()
	}
}

// isTerminal reports whether somebody watches what is written to out.
func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// UsePack has the platforms that are made afterwards use a pack program, in place of one that is compiled.
func (k *Fixture) UsePack(path string) {
	k.pack = path
}

// tempFolder makes a folder that Close removes.
func (k *Fixture) tempFolder(name string) (string, error) {
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
