// Package build is the buildpack's build phase: it takes the plan entry that package detect wrote, installs the probe
// for the image's architecture in a launch layer, and describes what it installed.
//
//	plan entry + settings --> Probe --> layer probe + layer config + SBOM + label + log
//
// Begin with Phase; Probe is the type that carries the data.
package build

import (
	"fmt"
	"os"
	"slices"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/build/assets"
	"github.com/grpc-cnb/health-probe/detect"
)

// Phase returns the build phase (buildpack spec, Phase #3: Build), which reports to logger. It contributes nothing where
// the plan has no entry for the probe.
func Phase(logger log.Logger) libcnb.BuildFunc {
	return func(ctx libcnb.BuildContext) (libcnb.BuildResult, error) {
		resolver := libpak.PlanEntryResolver{Plan: ctx.Plan}
		entry, ok, err := resolver.Resolve(detect.PlanEntry)
		if err != nil {
			return libcnb.BuildResult{}, fmt.Errorf("reading the plan entry %q: %w", detect.PlanEntry, err)
		}
		wanted, err := assets.FromPlan(ctx.Plan)
		if err != nil || !ok && len(wanted) == 0 {
			return libcnb.NewBuildResult(), err
		}
		logger.Title(ctx.Buildpack.Info.Name, ctx.Buildpack.Info.Version, ctx.Buildpack.Info.Homepage)
		settings, err := ReadSettings(ctx.Buildpack)
		if err != nil {
			return libcnb.BuildResult{}, err
		}
		var releases releases
		if len(wanted) > 0 || settings.Source == detect.Download {
			if releases, err = newReleases(ctx, settings.API, logger); err != nil {
				return libcnb.BuildResult{}, err
			}
		}
		layers, err := AssetLayers(releases, wanted)
		if err != nil {
			return libcnb.BuildResult{}, err
		}
		result := libcnb.NewBuildResult()
		if ok {
			result, err = install(ctx, settings, releases, detect.ServiceFromMetadata(entry.Metadata), logger)
		}
		if err != nil {
			return result, err
		}
		cache, err := releases.close()
		result.Layers = slices.Concat(result.Layers, layers, cache)
		return result, err
	}
}

func install(
	ctx libcnb.BuildContext, settings Settings, releases releases, service detect.Service, logger log.Logger,
) (libcnb.BuildResult, error) {
	result := libcnb.NewBuildResult()
	reportService(logger, service, settings.Defaults)
	work, err := os.MkdirTemp("", "health-probe")
	if err != nil {
		return result, fmt.Errorf("making a folder to work in: %w", err)
	}
	defer os.RemoveAll(work)
	probe, caches, err := obtain(ctx, settings, releases, work, logger)
	if err != nil {
		return result, err
	}
	result.Layers = append(result.Layers, caches...)
	// A probe that reads no default flags is given them by each exec probe.
	args, spelled := settings.Args, []string(nil)
	if !probe.ReadsDefaults() {
		args, spelled = nil, settings.Args
	}
	if err := checkUpstreamArgs(spelled); err != nil {
		return result, err
	}

	layer, err := Layer(ctx.Layers, probe, logger)
	if err != nil {
		return result, err
	}
	result.Layers = append(result.Layers, layer)
	if len(args) > 0 {
		config, err := ConfigLayer(ctx.Layers, args, logger)
		if err != nil {
			return result, err
		}
		result.Layers = append(result.Layers, config)
	}
	label, err := Label(Path(layer), probe, args, service)
	if err != nil {
		return result, err
	}
	result.Labels = append(result.Labels, label)
	reportExec(logger, Path(layer), spelled, settings.Defaults, service)
	return result, nil
}

// obtain has the probe from where the settings say, and the cache layers that it took. Files that are made for it are in
// work.
func obtain(
	ctx libcnb.BuildContext, settings Settings, releases releases, work string, logger log.Logger,
) (Probe, []libcnb.Layer, error) {
	if target := ctx.TargetInfo; target.OS == "" || target.Arch == "" {
		return Probe{}, nil, fmt.Errorf("reading the target from $CNB_TARGET_OS and $CNB_TARGET_ARCH: %q and %q", target.OS, target.Arch)
	}
	if settings.Source == detect.Compile {
		probe, cache, err := Compiled(ctx, settings.Variant, work, logger)
		return probe, []libcnb.Layer{cache}, err
	}
	if settings.Source == detect.Download {
		probe, err := Downloaded(releases, settings, work)
		return probe, nil, err
	}
	probe, err := Bundled(ctx, settings.Variant)
	return probe, nil, err
}
