// Command requirer is a buildpack for the tests, bin/detect and bin/build in one program: requirer requires the probe
// of earlier buildpacks, and contributes nothing.
package main

import "github.com/buildpacks/libcnb/v2"

func main() {
	libcnb.BuildpackMain(detect, build)
}

func detect(libcnb.DetectContext) (libcnb.DetectResult, error) {
	requires := libcnb.BuildPlan{Requires: []libcnb.BuildPlanRequire{{Name: "grpc-health-probe"}}}
	return libcnb.DetectResult{Pass: true, Plans: []libcnb.BuildPlan{requires}}, nil
}

func build(libcnb.BuildContext) (libcnb.BuildResult, error) {
	return libcnb.NewBuildResult(), nil
}
