// Command inspect says what a build would find in an app's folder: it runs the detect phase on the folder, and prints
// its log and the exec probe for what it found. It writes nothing. scripts/demo.sh calls it.
//
//	inspect BUILDPACK.TOML FOLDER
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/BurntSushi/toml"
	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/build"
	"github.com/grpc-cnb/health-probe/build/githubassets"
	"github.com/grpc-cnb/health-probe/detect"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// The exit codes. What cannot be inspected gives another code than an app whose image would get no probe.
const (
	exitFound   = 0
	exitNothing = 1
	exitError   = 2
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: inspect BUILDPACK.TOML FOLDER")
		os.Exit(exitError)
	}
	code, err := inspect(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", plan.SafeError(err))
	}
	os.Exit(code)
}

func inspect(descriptor, folder string) (code int, err error) {
	folder, err = appFolder(folder)
	if err != nil {
		return exitError, err
	}
	var buildpack libcnb.Buildpack
	if _, err := toml.DecodeFile(descriptor, &buildpack); err != nil {
		return exitError, fmt.Errorf("reading the buildpack's %q: %w", descriptor, err)
	}
	fmt.Fprintf(os.Stdout, "What a build finds in %s:\n", plan.Printable(folder))
	logger := log.NewPaketoLogger(os.Stdout)
	phase := detect.Phase(logger, githubassets.Requirements)
	result, err := phase(libcnb.DetectContext{ApplicationPath: folder, Buildpack: buildpack})
	if err != nil {
		return exitError, err
	}
	if !result.Pass {
		return exitNothing, errors.New("the image would get no probe, as it was set")
	}
	required, ok := requiredProbe(result)
	if !ok {
		return exitNothing, errors.New("the image would get no probe; docs/detection.md says what counts as a " +
			"server, and BP_LOG_LEVEL=DEBUG lists what was read")
	}
	if mistake := plan.MistakeFromMetadata(required.Metadata); mistake != nil {
		return exitError, mistake
	}
	if err := build.ReportExec(buildpack, plan.ServerFromMetadata(required.Metadata), logger); err != nil {
		return exitError, err
	}
	return exitFound, nil
}

// appFolder returns the absolute path of a folder.
func appFolder(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", fmt.Errorf("looking for the app: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("looking for the app: %q is no folder: name the folder that pack build is given", name)
	}
	return filepath.Abs(name)
}

// requiredProbe returns the plan's entry that requires the probe.
func requiredProbe(result libcnb.DetectResult) (libcnb.BuildPlanRequire, bool) {
	for _, p := range result.Plans {
		at := slices.IndexFunc(p.Requires, func(r libcnb.BuildPlanRequire) bool { return r.Name == plan.Entry })
		if at >= 0 {
			return p.Requires[at], true
		}
	}
	return libcnb.BuildPlanRequire{}, false
}
