package build

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"
	"golang.org/x/mod/modfile"

	"github.com/grpc-cnb/health-probe/build/archive"
	"github.com/grpc-cnb/health-probe/build/executable"
	"github.com/grpc-cnb/health-probe/internal/config"
)

const (
	// sourceFile is the archive in the buildpack with the probe's source code and vendored dependencies.
	sourceFile = "source.tgz"
	// compileTime bounds a compilation. On one slow processor, with an empty build cache, the full probe takes two
	// minutes.
	compileTime = 15 * time.Minute
)

// compile compiles programs, each a key of bundledFiles, for the target, from the source code in the buildpack, with
// the go command on the PATH and without any network. The programs are files in the folder work. The returned layer
// is Go's build cache. The user's settings for Go (GOFLAGS, GOFIPS140, GOEXPERIMENT, GOAMD64) apply.
func compile(
	ctx libcnb.BuildContext, variants []string, work string, logger log.Logger,
) ([]program, libcnb.Layer, error) {
	target := ctx.TargetInfo
	cache, err := cacheLayer(ctx.Layers, "go-build")
	if err != nil {
		return nil, cache, err
	}
	c := compiler{
		source: filepath.Join(work, "source"), work: work, logger: logger,
		env: append(os.Environ(),
			"GOOS="+target.OS, "GOARCH="+target.Arch, "CGO_ENABLED=0", "GOCACHE="+cache.Path,
			"GOPATH="+filepath.Join(work, "go"), "GOWORK=off", "GOPROXY=off", "GOTOOLCHAIN=local", "GO111MODULE=on"),
	}
	goVersion, err := c.prepare(filepath.Join(ctx.Buildpack.Path, sourceFile))
	if err != nil {
		return nil, cache, err
	}
	own, err := buildinfo.ReadFile(filepath.Join(ctx.Buildpack.Path, "bin", "main"))
	if err != nil {
		return nil, cache, fmt.Errorf("reading the version of the probe's source: %w", err)
	}
	var programs []program
	for _, variant := range variants {
		compiled, err := c.compile(ctx.TargetInfo, variant, goVersion, own)
		if err != nil {
			return nil, cache, err
		}
		programs = append(programs, compiled)
	}
	return programs, cache, nil
}

// cacheLayer returns a layer for the next build, not for the image.
func cacheLayer(layers libcnb.Layers, name string) (libcnb.Layer, error) {
	layer, err := layers.Layer(name)
	if err != nil {
		return layer, err
	}
	layer.LayerTypes = libcnb.LayerTypes{Cache: true}
	return layer, os.MkdirAll(layer.Path, 0o755)
}

// compiler runs the go command.
type compiler struct {
	source, work string
	env          []string
	logger       log.Logger
}

// prepare unpacks the source and returns the version of the go command on the PATH. A version too old for
// the source is an error.
func (c compiler) prepare(source string) (string, error) {
	if strings.Contains(os.Getenv("GOEXPERIMENT"), "boringcrypto") {
		return "", errors.New("compiling the probe: GOEXPERIMENT=boringcrypto needs cgo, and the probe is compiled " +
			"without (use GOFIPS140)")
	}
	if _, err := exec.LookPath("go"); err != nil {
		return "", fmt.Errorf("finding go on the PATH, since $%s is %s: put a Go buildpack before this one, use a "+
			"build image with Go, or set $%s to %s", config.SourceEnv, config.Compile, config.SourceEnv, config.Bundled)
	}
	// An old Go would refuse to answer in the folder of a module that needs a newer Go.
	out, err := c.run(c.work, "env", "GOVERSION")
	if err != nil {
		return "", fmt.Errorf("asking go for its version: %w", err)
	}
	have := strings.TrimSpace(string(out))
	if _, err := archive.Unpack(source, sourceFile, c.source, 0); err != nil {
		return "", err
	}
	descriptor, err := os.ReadFile(filepath.Join(c.source, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("finding the probe's source: %w", err)
	}
	module, err := modfile.ParseLax("go.mod", descriptor, nil)
	if err != nil || module.Go == nil {
		return "", errors.Join(errors.New("reading the go.mod of the probe's source: it names no version of Go"), err)
	}
	// A vendor's own version may follow after a space. A version without a release (devel) counts as new enough.
	release, _, _ := strings.Cut(have, " ")
	if need := "go" + module.Go.Version; version.IsValid(release) && version.Compare(release, need) < 0 {
		return "", fmt.Errorf("compiling the probe: the build image has %s, and the probe's source needs %s or later",
			have, need)
	}
	return have, nil
}

// compile compiles a program, with the version of the buildpack's own program.
func (c compiler) compile(
	target libcnb.TargetInfo, variant, goVersion string, own *buildinfo.BuildInfo,
) (program, error) {
	title := "the " + variant + " probe"
	if variant == bridgeVariant {
		title = "the bridge"
	}
	c.logger.Bodyf("Compiling %s for %s with %s", title, platform(target), goVersion)
	file, err := c.build(bundledFiles[variant], own.Main.Version+" "+buildSetting(own, "vcs.revision"))
	if err != nil {
		return program{}, err
	}
	interpreter, err := executable.Check(file, executablePlatform(target))
	if err != nil {
		return program{}, fmt.Errorf("checking what was compiled: %w (is that what $GOFLAGS asks for?)", err)
	}
	compiled, err := readProgram(file, config.Compile)
	compiled.name, compiled.variant = namesOf(variant)
	compiled.version, compiled.interpreter = own.Main.Version, interpreter
	return compiled, err
}

// build compiles a program and stamps it with a version and a commit.
func (c compiler) build(program, stamp string) (string, error) {
	file := filepath.Join(c.work, program)
	flags := "-s -w -X 'github.com/grpc-cnb/health-probe/probe/flags.stamp=" + stamp + "'"
	_, err := c.run(c.source, "build", "-mod=vendor", "-trimpath", "-buildvcs=false", "-ldflags="+flags, "-o", file,
		"./cmd/"+program)
	if err != nil {
		return "", fmt.Errorf("compiling the probe: %w", err)
	}
	if _, err := os.Stat(file); err != nil {
		return "", fmt.Errorf("compiling the probe: go build made no program, since $GOFLAGS is %q (leave out -n)",
			os.Getenv("GOFLAGS"))
	}
	return file, nil
}

// run returns the go command's standard output. If the command fails, run logs the command's standard error.
func (c compiler) run(dir string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), compileTime)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, slices.Concat(c.env, []string{"PWD=" + dir}), &stderr
	out, err := cmd.Output()
	if err == nil {
		return out, nil
	}
	for line := range strings.Lines(stderr.String()) {
		c.logger.Body(strings.TrimRight(line, "\n"))
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("it took longer than %v", compileTime)
	}
	return nil, fmt.Errorf("go %s: %w", args[0], err)
}
