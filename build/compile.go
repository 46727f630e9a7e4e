package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"
	"golang.org/x/mod/modfile"

	"github.com/grpc-cnb/health-probe/detect"
)

const (
	// sourceDir is the folder of the buildpack with the probe's source and its dependencies, vendored.
	sourceDir = "source"
	// compileTime bounds a compilation: cold, on one slow processor, the full probe takes two minutes.
	compileTime = 15 * time.Minute
)

// Compiled makes the variant of the probe for the target from the source in the buildpack, with the go that is on the
// PATH and without any network, as a file in work. Go's build cache is the layer that comes with it. What the user sets
// for Go (GOFLAGS, GOFIPS140, GOEXPERIMENT, GOAMD64) holds.
func Compiled(ctx libcnb.BuildContext, variant, work string, logger log.Logger) (Probe, libcnb.Layer, error) {
	target := ctx.TargetInfo
	shipped, err := Bundled(ctx, variant)
	if err != nil {
		return Probe{}, libcnb.Layer{}, err
	}
	cache, err := cacheLayer(ctx.Layers, "go-build")
	if err != nil {
		return Probe{}, cache, err
	}
	c := compiler{source: filepath.Join(ctx.Buildpack.Path, sourceDir), work: work, logger: logger, env: append(os.Environ(),
		"GOOS="+target.OS, "GOARCH="+target.Arch, "CGO_ENABLED=0", "GOCACHE="+cache.Path, "GOPATH="+filepath.Join(work, "go"),
		"GOWORK=off", "GOPROXY=off", "GOTOOLCHAIN=local", "GO111MODULE=on")}
	goVersion, err := c.checkGo()
	if err != nil {
		return Probe{}, cache, err
	}
	logger.Bodyf("Compiling the %s probe for %s/%s with %s", variant, target.OS, target.Arch, goVersion)
	file, err := c.build(bundledFiles[variant], shipped.Version+" "+buildSetting(shipped.Info, "vcs.revision"))
	if err != nil {
		return Probe{}, cache, err
	}
	probe, err := open(file, detect.Compile)
	probe.Variant, probe.Version = variant, shipped.Version
	return probe, cache, err
}

// cacheLayer returns a layer that is kept for the next build and is no part of the image.
func cacheLayer(layers libcnb.Layers, name string) (libcnb.Layer, error) {
	layer, err := layers.Layer(name)
	if err != nil {
		return layer, err
	}
	layer.LayerTypes = libcnb.LayerTypes{Cache: true}
	return layer, os.MkdirAll(layer.Path, 0o755)
}

// compiler runs the go command on the source.
type compiler struct {
	source, work string
	env          []string
	logger       log.Logger
}

// checkGo returns the version of the go on the PATH, which must be new enough for the source.
func (c compiler) checkGo() (string, error) {
	if strings.Contains(os.Getenv("GOEXPERIMENT"), "boringcrypto") {
		return "", errors.New("compiling the probe: GOEXPERIMENT=boringcrypto needs cgo, and the probe is compiled without (use GOFIPS140)")
	}
	if _, err := exec.LookPath("go"); err != nil {
		return "", fmt.Errorf("finding go on the PATH, since $%s is %s: put a Go buildpack before this one, or use a build image with Go", detect.SourceEnv, detect.Compile)
	}
	// In a folder that is no module, or an old Go would refuse to answer.
	out, err := c.run(c.work, "env", "GOVERSION")
	if err != nil {
		return "", fmt.Errorf("asking go for its version: %w", err)
	}
	have := strings.TrimSpace(string(out))
	descriptor, err := os.ReadFile(filepath.Join(c.source, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("finding the probe's source: %w", err)
	}
	module, err := modfile.ParseLax("go.mod", descriptor, nil)
	if err != nil || module.Go == nil {
		return "", errors.Join(errors.New("reading the go.mod of the probe's source: it names no version of Go"), err)
	}
	// What is not a release (devel) is taken to be new.
	if need, release := "go"+module.Go.Version, goRelease(have); version.IsValid(release) && version.Compare(release, need) < 0 {
		return "", fmt.Errorf("compiling the probe: the build image has %s, and the probe's source needs %s or later", have, need)
	}
	return have, nil
}

// build compiles a program of the source, stamped with the version and the commit that it is of.
func (c compiler) build(program, stamp string) (string, error) {
	file := filepath.Join(c.work, program)
	flags := "-s -w -X 'github.com/grpc-cnb/health-probe/probe.stamp=" + stamp + "'"
	_, err := c.run(c.source, "build", "-mod=vendor", "-trimpath", "-buildvcs=false", "-ldflags="+flags, "-o", file, "./cmd/"+program)
	if err != nil {
		return "", fmt.Errorf("compiling the probe: %w", err)
	}
	return file, nil
}

// run returns what go writes to its standard output; what it complains of goes to the log.
func (c compiler) run(dir string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), compileTime)
	defer cancel()
	var complaints bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(c.env, "PWD="+dir), &complaints
	out, err := cmd.Output()
	if err == nil {
		return out, nil
	}
	for line := range strings.Lines(complaints.String()) {
		c.logger.Body(strings.TrimRight(line, "\n"))
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("it took longer than %v", compileTime)
	}
	return nil, fmt.Errorf("go %s: %w", args[0], err)
}
