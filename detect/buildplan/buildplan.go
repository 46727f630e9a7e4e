package buildplan

import (
	"os/exec"
	"slices"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// goEntry is the plan entry by which Go buildpacks provide the go command to other buildpacks.
const goEntry = "go"

// buildPlans returns the build plan, with its alternatives, for the servers of an app and for requirements beside the
// probe.
func buildPlans(
	settings config.Config, servers []plan.Server, required []plan.Requirement, logger log.Logger,
) []libcnb.BuildPlan {
	plans := []libcnb.BuildPlan{probePlan(servers, settings.Enabled == config.EnabledTrue)}
	if _, err := exec.LookPath("go"); err != nil && settings.Source == config.Compile {
		plans = withGo(plans[0])
	}
	return withRequirements(plans, required, logger)
}

// probePlan provides the probe, and requires it if the app serves gRPC or the user forces the probe.
func probePlan(servers []plan.Server, forced bool) libcnb.BuildPlan {
	probe := libcnb.BuildPlan{Provides: []libcnb.BuildPlanProvide{{Name: plan.Entry}}}
	switch {
	case len(servers) > 0:
		probe.Requires = []libcnb.BuildPlanRequire{{Name: plan.Entry, Metadata: plan.List(servers).Metadata()}}
	case forced:
		probe.Requires = []libcnb.BuildPlanRequire{{Name: plan.Entry}}
	}
	return probe
}

// withGo adds a plan before the probe's plan that also requires Go of another buildpack. The lifecycle takes the second
// plan if no earlier buildpack provides Go, and the build phase then fails with an error about the missing Go. With the
// first plan alone, the lifecycle would leave out an optional buildpack without a word.
func withGo(probe libcnb.BuildPlan) []libcnb.BuildPlan {
	compiled := probe
	goRequire := libcnb.BuildPlanRequire{Name: goEntry, Metadata: map[string]any{"build": true}}
	compiled.Requires = append(slices.Clone(probe.Requires), goRequire)
	return []libcnb.BuildPlan{compiled, probe}
}

// withRequirements adds the requirements of the app beside the probe. If nothing requires the probe, a further plan
// leaves the probe out: a buildpack fails its group if nobody requires its provided entries.
func withRequirements(plans []libcnb.BuildPlan, required []plan.Requirement, logger log.Logger) []libcnb.BuildPlan {
	if len(required) == 0 {
		return plans
	}
	var alone libcnb.BuildPlan
	for _, r := range required {
		logger.Header(r.Reason)
		alone.Requires = append(alone.Requires, libcnb.BuildPlanRequire{Name: r.Name, Metadata: r.Metadata})
		if provided := (libcnb.BuildPlanProvide{Name: r.Name}); !slices.Contains(alone.Provides, provided) {
			alone.Provides = append(alone.Provides, provided)
		}
	}
	isProbe := func(r libcnb.BuildPlanRequire) bool { return r.Name == plan.Entry }
	requiresProbe := slices.ContainsFunc(plans[0].Requires, isProbe)
	for i, p := range plans {
		plans[i].Provides = slices.Concat(p.Provides, alone.Provides)
		plans[i].Requires = slices.Concat(p.Requires, alone.Requires)
	}
	if requiresProbe {
		return plans
	}
	return append(plans, alone)
}
