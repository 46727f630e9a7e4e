// Package harness builds images of apps with the real lifecycle, runs the images and executes programs in running
// apps, for the integration tests and the demo. In go an app folder and a buildpack folder; out come the image,
// the running app, and the exit codes of the programs beside the app.
//
// Begin with New, which compiles the lifecycle, then take a platform: Fixture.Docker is pack and Docker Engine,
// Fixture.Creator the lifecycle's creator in Docker Engine without pack, Fixture.Phases the same lifecycle without
// either. No platform pulls images: base images are made here, from scratch, or from Debian packages for apps that need
// more than a static program (Fixture.Debian).
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

// Platform builds and runs images like a platform of the buildpack spec: pack with Docker, or the lifecycle alone.
type Platform interface {
	// Build makes an image. A second build with the same name is a rebuild: the lifecycle may reuse layers of the first
	// image.
	Build(ctx context.Context, b Build) (*Image, error)
	// Run starts the image's default process with args and returns when the process listens. The caller stops the
	// server.
	Run(ctx context.Context, image *Image, args ...string) (*Server, error)
	// Close removes everything that the platform made.
	Close() error
}

// Build is the input of a build.
type Build struct {
	Name string // a short name for the image, [a-z0-9-]
	App  string // the app's folder; only read
	// Buildpack is the folder of a buildpack to add to the platform's; empty for none. Docker takes any URI of pack.
	Buildpack string
	Env       []string  // build-time variables, NAME=value
	Log       io.Writer // gets the build's output during the build; may be nil
}

// Fixture has the common parts of all platforms: lifecycle, base images, app buildpack, and a temporary folder.
type Fixture struct {
	lifecycle string // folder with lifecycle.toml and lifecycle/{analyzer,...,launcher}
	base      string // folder with the files of the base images
	procfile  string // folder of the app buildpack
	pack      string // the program of UsePack; empty for the compiled program
	repo      string
	temp      string
	sweeper   *sweeper // of temp
	out       io.Writer

	compiling sync.Mutex // a tool is compiled only once

	committing sync.Mutex
	committed  string // commit of the clones
}

// New compiles the tools for the integration tests of the repository at repo, or takes the tools of earlier runs from
// dist/tools. Progress goes to out. Close the platforms before the Fixture.
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

// Close removes the temporary folder. The end of this process without Close removes the folder too.
func (k *Fixture) Close() error {
	return k.sweeper.close()
}

// Repository returns the folder of the repository.
func (k *Fixture) Repository() string { return k.repo }

// Dist returns the path of a file or folder in dist, the output folder of the repository's scripts.
func (k *Fixture) Dist(name string) string {
	return filepath.Join(k.repo, "dist", name)
}

// Step announces a long step, and returns the function that prints the duration.
func (k *Fixture) Step(format string, args ...any) (done func()) {
	start := time.Now()
	fmt.Fprintf(k.out, "-> "+format+"\n", args...)
	return func() { fmt.Fprintf(k.out, "   done in %.1f s\n", time.Since(start).Seconds()) }
}

// LongStep is Step for a step of minutes without output. It shows that the step goes on: on a terminal by a line with
// the seconds, elsewhere by a line each minute.
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

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// UsePack sets a pack program for later platforms, in place of a compiled program.
func (k *Fixture) UsePack(path string) {
	k.pack = path
}

// tempFolder makes a folder that Close removes.
func (k *Fixture) tempFolder(name string) (string, error) {
	return os.MkdirTemp(k.temp, name+"-")
}

// run returns the trimmed output of a command; an error contains the whole output.
func run(cmd *exec.Cmd) (string, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("running %q: %w\n%s", strings.Join(cmd.Args, " "), err, out.String())
	}
	return strings.TrimSpace(out.String()), nil
}
