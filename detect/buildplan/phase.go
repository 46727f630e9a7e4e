// Package buildplan is the detect phase as the lifecycle calls it (buildpack spec, Phase #1: Detect): it puts the
// servers that package detect finds in an app into the build plan.
//
// Begin with [Phase].
package buildplan

import (
	"fmt"
	"time"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/detect"
	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/descriptor"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Requirements returns what the settings of the app in a folder require of the build plan beside the probe.
type Requirements func(appDir string) ([]plan.Requirement, error)

// Phase returns the detect phase (buildpack spec, Phase #1: Detect), which reports to logger. It passes with the plan
// entry provided and required if the probe is wanted, and with the entry provided alone if nothing asks for it,
// so that another buildpack still can. It passes without a plan if config.EnabledEnv is "false": the build phase
// then has nothing to do, and a group that names the buildpack does not fail. A probe that is to be compiled requires
// Go of another buildpack, unless the build image has it. What the app requires beside the probe has entries of its
// own. A builder that has the buildpack as an optional system buildpack gets a plan for an app that asks for nothing,
// too. If a setting is wrong, the plan requires the probe with that mistake, and the build phase fails with it.
func Phase(logger log.Logger, requirements Requirements) libcnb.DetectFunc {
	return func(ctx libcnb.DetectContext) (libcnb.DetectResult, error) {
		defaults, err := descriptor.Defaults(ctx.Buildpack.Metadata)
		if err != nil {
			return mistaken(err, logger), nil
		}
		settings := config.Read(defaults)
		if settings.Enabled == config.EnabledFalse {
			logger.Headerf("gRPC health probe: left out, because $%s is false", config.EnabledEnv)
			return libcnb.DetectResult{Pass: true}, nil
		}
		if err := settings.Err(); err != nil {
			return mistaken(err, logger), nil
		}
		required, err := requirementsInTime(requirements, ctx.ApplicationPath, detect.MaxTime)
		if err != nil {
			return mistaken(err, logger), nil
		}
		servers, err := detect.Servers(ctx.ApplicationPath, settings.Enabled == config.EnabledTrue, logger)
		if err != nil {
			return libcnb.DetectResult{}, err
		}
		plans := buildPlans(settings, servers, required, logger)
		if isOptionalInSystem(systemFile, ctx.Buildpack.Info.ID) {
			plans = withNothing(plans)
		}
		return libcnb.DetectResult{Pass: true, Plans: plans}, nil
	}
}

// mistaken returns the result for an app whose settings hold a mistake.
func mistaken(mistake error, logger log.Logger) libcnb.DetectResult {
	logger.Headerf("The build will fail, because a setting is wrong: %s", plan.SafeError(mistake))
	return libcnb.DetectResult{Pass: true, Plans: []libcnb.BuildPlan{{
		Provides: []libcnb.BuildPlanProvide{{Name: plan.Entry}},
		Requires: []libcnb.BuildPlanRequire{{Name: plan.Entry, Metadata: plan.MistakeMetadata(mistake)}},
	}}}
}

// requirementsInTime returns the requirements of the app in a directory, or an error if reading them takes longer
// than a limit.
func requirementsInTime(requirements Requirements, dir string, limit time.Duration) ([]plan.Requirement, error) {
	type read struct {
		required []plan.Requirement
		err      error
	}
	done := make(chan read, 1)
	go func() {
		required, err := requirements(dir)
		done <- read{required, err}
	}()
	select {
	case r := <-done:
		return r.required, r.err
	case <-time.After(limit):
		return nil, fmt.Errorf("reading the settings of the app: it took longer than %s", limit)
	}
}
