// Package buildplan is the detect phase for the lifecycle (buildpack spec, Phase #1: Detect): it puts the servers that
// package detect finds in an app into the build plan.
//
// Begin with [Phase].
package buildplan

import (
	"errors"
	"fmt"
	"os"

	"github.com/BurntSushi/toml"
	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/detect"
	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/descriptor"
	"github.com/grpc-cnb/health-probe/internal/intime"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Requirements checks all settings, and returns their requirements of the build plan beside the probe.
type Requirements func(ctx libcnb.DetectContext) ([]plan.Requirement, error)

// Phase returns the detect phase (buildpack spec, Phase #1: Detect), which reports to logger. The phase passes with the
// plan entry provided and required if the probe is wanted, and with the entry provided alone if nothing asks for the
// probe, so that another buildpack still can. If config.EnabledEnv is "false", the phase passes without a plan: the
// build phase then has nothing to do, and a group that names the buildpack does not fail. A probe to compile requires
// Go of another buildpack, unless the build image has Go. Requirements of the app beside the probe have their own
// entries. If the builder has the buildpack as an optional system buildpack, an app that asks for nothing gets a plan,
// too. An error of the phase, such as a mistake in a setting, is for [HandOn].
func Phase(logger log.Logger, requirements Requirements) libcnb.DetectFunc {
	return func(ctx libcnb.DetectContext) (libcnb.DetectResult, error) {
		defaults, err := descriptor.Defaults(ctx.Buildpack.Metadata)
		if err != nil {
			return libcnb.DetectResult{}, err
		}
		settings := config.Read(defaults)
		if settings.Enabled == config.EnabledFalse {
			logger.Headerf("gRPC health probe: left out, because $%s is false", config.EnabledEnv)
			return libcnb.DetectResult{Pass: true}, nil
		}
		if err := settings.Err(); err != nil {
			return libcnb.DetectResult{}, err
		}
		required, err := intime.Do(func() ([]plan.Requirement, error) { return requirements(ctx) }, detect.MaxTime)
		if _, isLate := errors.AsType[intime.Error](err); isLate {
			err = fmt.Errorf("reading the settings of the app: %w", err)
		}
		if err != nil {
			return libcnb.DetectResult{}, err
		}
		servers, err := detect.Servers(ctx.ApplicationPath, settings.Enabled, logger)
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

// HandOn writes a build plan with a mistake to a file: the plan requires the probe, and the build phase fails with the
// mistake. A failure of the detect phase is not enough: the lifecycle then leaves out an optional buildpack.
func HandOn(mistake error, file string, logger log.Logger) error {
	text, err := toml.Marshal(libcnb.BuildPlan{
		Provides: []libcnb.BuildPlanProvide{{Name: plan.Entry}},
		Requires: []libcnb.BuildPlanRequire{{Name: plan.Entry, Metadata: plan.MistakeMetadata(mistake)}},
	})
	if err != nil {
		return fmt.Errorf("encoding the build plan: %w", err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return fmt.Errorf("writing the build plan: %w", err)
	}
	logger.Headerf("The build will fail: %s", plan.SafeError(mistake))
	return nil
}
