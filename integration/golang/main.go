// Command golang is a Go buildpack for the tests, bin/detect and bin/build in one program: if another buildpack
// requires "go", golang puts the go command of /opt/go on the PATH of later buildpacks.
package main

import (
	"os"
	"path/filepath"

	"github.com/buildpacks/libcnb/v2"
)

func main() {
	libcnb.BuildpackMain(detect, build)
}

func detect(libcnb.DetectContext) (libcnb.DetectResult, error) {
	provides := libcnb.BuildPlan{Provides: []libcnb.BuildPlanProvide{{Name: "go"}}}
	return libcnb.DetectResult{Pass: true, Plans: []libcnb.BuildPlan{provides, {}}}, nil
}

func build(ctx libcnb.BuildContext) (libcnb.BuildResult, error) {
	result := libcnb.NewBuildResult()
	if len(ctx.Plan.Entries) == 0 {
		return result, nil
	}
	layer, err := ctx.Layers.Layer("go")
	if err != nil {
		return result, err
	}
	bin := filepath.Join(layer.Path, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return result, err
	}
	if err := os.Symlink("/opt/go/bin/go", filepath.Join(bin, "go")); err != nil && !os.IsExist(err) {
		return result, err
	}
	layer.LayerTypes = libcnb.LayerTypes{Build: true}
	result.Layers = append(result.Layers, layer)
	return result, nil
}
