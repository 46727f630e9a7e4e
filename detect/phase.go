package detect

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/build/assets"
)

// EnabledEnv is the build variable that says when the probe is installed: "auto", where the app is seen to serve gRPC;
// "true", always; "false", never. Its default is "auto", kept in buildpack.toml. Example:
// BP_GRPC_HEALTH_PROBE_ENABLED=true
const EnabledEnv = "BP_GRPC_HEALTH_PROBE_ENABLED"

// SourceEnv is the build variable that says where the probe comes from: Bundled, out of the buildpack; Compile, from the
// source in the buildpack, with the build image's Go; Download, from a release on GitHub. Its default is Bundled, kept in
// buildpack.toml. Example:
// BP_GRPC_HEALTH_PROBE_SOURCE=compile
const SourceEnv = "BP_GRPC_HEALTH_PROBE_SOURCE"

// The values of SourceEnv, as the image label and the SBOM name them too.
const (
	Bundled  = "bundled"
	Compile  = "compile"
	Download = "download"
)

// goEntry is the plan entry by which Go buildpacks provide the go command to other buildpacks.
const goEntry = "go"

// Phase returns the detect phase (buildpack spec, Phase #1: Detect), which reports to logger. It passes with the plan
// entry provided and required where the probe is wanted, with the entry provided alone where nothing asks for it, so that
// another buildpack still can, and does not pass where EnabledEnv is "false". A probe that is to be compiled requires Go
// of another buildpack, unless the build image has it. The GitHub assets that the app wants have entries of their own.
func Phase(logger log.Logger) libcnb.DetectFunc {
	return func(ctx libcnb.DetectContext) (libcnb.DetectResult, error) {
		enabled, source, err := settings(ctx.Buildpack)
		if err != nil {
			return libcnb.DetectResult{}, err
		}
		if enabled == "false" {
			logger.Headerf("gRPC health probe: left out, because $%s is false", EnabledEnv)
			return libcnb.DetectResult{Pass: false}, nil
		}
		tree := func(limit context.Context) ([]Service, error) { return Tree(limit, ctx.ApplicationPath, logger.Debugf) }
		services, err := read(tree, maxTime, maxOneFile, logger)
		if err != nil {
			return libcnb.DetectResult{}, err
		}
		wanted, err := assets.Read(ctx.ApplicationPath)
		if err != nil {
			return libcnb.DetectResult{}, err
		}
		report(logger, services, enabled == "true")
		plans := []libcnb.BuildPlan{plan(services, enabled == "true")}
		if _, err := exec.LookPath("go"); err != nil && source == Compile {
			plans = withGo(plans[0])
		}
		plans, err = withAssets(plans, wanted, logger)
		return libcnb.DetectResult{Pass: err == nil, Plans: plans}, err
	}
}

// withGo adds that Go is required of another buildpack. Where it is not known whether the probe is, since only another
// buildpack may require it, there is a second plan without: the build then says what is missing, if it comes to that.
func withGo(plan libcnb.BuildPlan) []libcnb.BuildPlan {
	compiled := plan
	compiled.Requires = append(slices.Clone(plan.Requires), libcnb.BuildPlanRequire{Name: goEntry, Metadata: map[string]any{"build": true}})
	if len(plan.Requires) > 0 {
		return []libcnb.BuildPlan{compiled}
	}
	return []libcnb.BuildPlan{compiled, plan}
}

// withAssets adds the GitHub assets that the app wants. An app that wants nothing else gets a further plan without the
// probe, since a buildpack fails its group where nobody requires what it provides.
func withAssets(plans []libcnb.BuildPlan, wanted []assets.Entry, logger log.Logger) ([]libcnb.BuildPlan, error) {
	if len(wanted) == 0 {
		return plans, nil
	}
	alone := libcnb.BuildPlan{Provides: []libcnb.BuildPlanProvide{{Name: assets.PlanEntry}}}
	for _, entry := range wanted {
		logger.Headerf("GitHub asset wanted: %s of %s", entry.Asset, entry.Repo)
		metadata, err := entry.Metadata()
		if err != nil {
			return nil, fmt.Errorf("planning the GitHub asset %q: %w", entry.Asset, err)
		}
		alone.Requires = append(alone.Requires, libcnb.BuildPlanRequire{Name: assets.PlanEntry, Metadata: metadata})
	}
	probeToo := slices.ContainsFunc(plans[0].Requires, func(r libcnb.BuildPlanRequire) bool { return r.Name == PlanEntry })
	for i, plan := range plans {
		plans[i].Provides = append(plan.Provides, alone.Provides...)
		plans[i].Requires = append(plan.Requires, alone.Requires...)
	}
	if probeToo {
		return plans, nil
	}
	return append(plans, alone), nil
}

// settings returns the values of EnabledEnv, checked, and of SourceEnv, which the build phase checks.
func settings(buildpack libcnb.Buildpack) (enabled, source string, err error) {
	metadata, err := libpak.NewBuildModuleMetadata(buildpack.Metadata)
	if err != nil {
		return "", "", fmt.Errorf("reading the buildpack's metadata: %w", err)
	}
	resolver, err := libpak.NewConfigurationResolver(metadata)
	if err != nil {
		return "", "", fmt.Errorf("reading the buildpack's configurations: %w", err)
	}
	source, _ = resolver.ResolveAndTrim(SourceEnv)
	source = strings.ToLower(source)
	value, _ := resolver.ResolveAndTrim(EnabledEnv)
	switch lower := strings.ToLower(value); lower {
	case "": // Templates set variables to nothing and mean that they are not set.
		return "auto", source, nil
	case "auto", "true", "false":
		return lower, source, nil
	}
	return "", "", fmt.Errorf("reading $%s: %q is not allowed: use auto, true or false", EnabledEnv, value)
}

// read returns what tree finds within a time: an app too slow to read is built with what is known by then, which is
// nothing where a single file takes oneFile more.
func read(tree func(context.Context) ([]Service, error), whole, oneFile time.Duration, logger log.Logger) ([]Service, error) {
	ctx, cancel := context.WithTimeout(context.Background(), whole)
	defer cancel()
	type found struct {
		services []Service
		err      error
	}
	done := make(chan found, 1)
	go func() {
		services, err := tree(ctx)
		done <- found{services, err}
	}()
	select {
	case f := <-done:
		if !errors.Is(f.err, context.DeadlineExceeded) {
			return f.services, f.err
		}
		logger.Headerf("Warning: the app was not read to its end within %s", whole)
		return f.services, nil
	case <-time.After(whole + oneFile):
		logger.Headerf("Warning: the app was not read within %s", whole+oneFile)
		return nil, nil
	}
}

func plan(services []Service, forced bool) libcnb.BuildPlan {
	plan := libcnb.BuildPlan{Provides: []libcnb.BuildPlanProvide{{Name: PlanEntry}}}
	switch {
	case len(services) > 0:
		plan.Requires = []libcnb.BuildPlanRequire{{Name: PlanEntry, Metadata: services[0].Metadata()}}
	case forced:
		plan.Requires = []libcnb.BuildPlanRequire{{Name: PlanEntry}}
	}
	return plan
}

func report(logger log.Logger, services []Service, forced bool) {
	for _, s := range services[:min(len(services), maxListed)] {
		logger.Headerf("gRPC server found: %s", s)
	}
	if more := len(services) - maxListed; more > 0 {
		logger.Headerf("gRPC servers found beside these: %d (BP_LOG_LEVEL=DEBUG lists all evidence)", more)
	}
	switch {
	case len(services) > 0:
		if warning := services[0].HealthWarning(); warning != "" {
			logger.Headerf("Warning: %s", warning)
		}
	case forced:
		logger.Headerf("No gRPC server found, but $%s is true", EnabledEnv)
	default:
		logger.Headerf("No gRPC server found: looked for a server that is made or registered in the app's own sources or "+
			"programs (%s); $%s=true installs the probe all the same", strings.Join(titles(), ", "), EnabledEnv)
	}
}
