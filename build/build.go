// Package build is the buildpack's build phase: from the detect phase's plan entry, build installs the probe for the
// image's architecture in a launch layer, and describes the installed programs.
//
//	plan entry + settings --> program --> layer probe + layer config + SBOM + label + log
//
// Begin with [Phase].
package build

import (
	"fmt"
	"os"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/build/execprobe"
	"github.com/grpc-cnb/health-probe/build/github"
	"github.com/grpc-cnb/health-probe/build/githubassets"
	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/probe/flags"
)

// Phase returns the build phase (buildpack spec, Phase #3: Build), which reports to logger. The phase contributes the
// probe and GitHub assets if the plan has entries for them, and fails if the detect phase found a mistake in the
// settings. No error holds a secret or an unprintable character.
func Phase(logger log.Logger) libcnb.BuildFunc {
	return func(ctx libcnb.BuildContext) (libcnb.BuildResult, error) {
		result, err := contribute(ctx, logger)
		return result, plan.SafeError(err)
	}
}

func contribute(ctx libcnb.BuildContext, logger log.Logger) (libcnb.BuildResult, error) {
	resolver := libpak.PlanEntryResolver{Plan: ctx.Plan}
	entry, ok, err := resolver.Resolve(plan.Entry)
	if err != nil {
		return libcnb.BuildResult{}, fmt.Errorf("reading the plan entry %q: %w", plan.Entry, err)
	}
	requests, err := githubassets.RequestsFromPlan(ctx.Plan)
	if err != nil || !ok && len(requests) == 0 {
		return libcnb.NewBuildResult(), err
	}
	logger.Title(ctx.Buildpack.Info.Name, ctx.Buildpack.Info.Version, ctx.Buildpack.Info.Homepage)
	for _, entry := range ctx.Plan.Entries {
		if mistake := plan.MistakeFromMetadata(entry.Metadata); mistake != nil && entry.Name == plan.Entry {
			return libcnb.BuildResult{}, mistake
		}
	}
	settings, err := readSettings(ctx.Buildpack)
	if err != nil {
		return libcnb.BuildResult{}, err
	}
	for _, sentence := range settings.Ineffective() {
		logger.Headerf("Warning: %s", sentence)
	}
	var host github.Host
	if len(requests) > 0 || settings.Source == config.Download {
		if host, err = github.NewHost(ctx, settings.api, logger); err != nil {
			return libcnb.BuildResult{}, err
		}
	}
	layers, err := githubassets.Contribute(ctx, host, requests, logger)
	if err != nil {
		return libcnb.BuildResult{}, err
	}
	result := libcnb.NewBuildResult()
	if ok {
		result, err = install(ctx, settings, host, plan.ServersFromMetadata(entry.Metadata), logger)
	}
	result.Layers = append(result.Layers, layers...)
	return result, err
}

// install contributes the probe for the leading server, and the probe's accessories.
func install(
	ctx libcnb.BuildContext, settings settings, host github.Host, servers plan.Servers, logger log.Logger,
) (libcnb.BuildResult, error) {
	result := libcnb.NewBuildResult()
	reportServers(logger, servers, settings.defaults)
	work, err := os.MkdirTemp("", "health-probe")
	if err != nil {
		return result, fmt.Errorf("making a folder to work in: %w", err)
	}
	defer os.RemoveAll(work)
	programs, caches, err := obtain(ctx, settings, host, work, logger)
	if err != nil {
		return result, err
	}
	result.Layers = append(result.Layers, caches...)
	reportInterpreter(logger, programs.probe)
	args, execArgs, err := divideArgs(settings.Args, programs)
	if err != nil {
		return result, err
	}
	reportCredentials(logger, args, settings.defaults)
	server := execprobe.ServerOf(servers, settings.Args)
	address := defaultAddress(settings, programs, server)
	files, err := newProbeConfig(args, foundAddress(settings, programs, servers, server))
	if err != nil {
		return result, err
	}
	layer, err := probeLayer(ctx.Layers, programs, logger)
	if err != nil {
		return result, err
	}
	result.Layers = append(result.Layers, layer)
	exec := execprobe.New(execprobe.Given{
		Path: pathIn(layer), Flags: settings.Args, Defaults: settings.defaults, Args: execArgs, Server: server,
		IsOwn:        programs.probe.readsDefaults(),
		ReadsAddress: address.IsKnown() && programs.probe.readsDefaults(),
	})
	hasAddress := settings.defaults.HasAddress || address.IsKnown() ||
		settings.defaults.Searches && settings.Bridge == config.BridgeLaunch
	files.bridge = newBridge(exec, programs.bridge, settings.Config, hasAddress)
	if !files.isEmpty() {
		config, err := files.contribute(ctx.Layers, logger)
		if err != nil {
			return result, err
		}
		result.Layers = append(result.Layers, config)
	}
	label, err := imageLabel(exec, files.bridge, programs.probe, args, servers)
	if err != nil {
		return result, err
	}
	result.Labels = append(result.Labels, label)
	if len(execArgs) > 0 {
		execprobe.ReportFlags(logger)
	}
	exec.Report(logger, len(servers.Listed) > 1, files.bridge != nil)
	if files.bridge != nil {
		reportBridge(logger, files.bridge)
	}
	return result, nil
}

// divideArgs returns the default flags for a file in the image, and the flags for each exec probe. Only a probe that
// reads no default flags gets inExec; a flag unknown to such a probe is an error. The bridge always reads the file.
func divideArgs(args []string, all programs) (inImage, inExec []string, err error) {
	if all.probe.readsDefaults() {
		return args, nil, nil
	}
	if err := checkUpstreamArgs(args); err != nil {
		return nil, nil, err
	}
	if all.bridge == nil {
		return nil, args, nil
	}
	return args, args, nil
}

// foundAddress returns a server's findings for a program to read in the image; the zero value for nothing.
func foundAddress(settings settings, all programs, servers plan.Servers, server plan.Server) flags.FoundAddress {
	if !settings.DetectPort || settings.defaults.HasAddress || !all.readConfig() {
		return flags.FoundAddress{}
	}
	found := flags.FoundAddress{
		Target: server.Address.Target(), Variable: server.Address.Variable, TLS: server.Security.IsTLS(),
		Alone: len(servers.Listed) == 1 && servers.Unlisted == 0 && server.SpeaksFirst,
	}
	if server.Address.IsKnown() {
		found.Place = server.Address.Place.String()
	}
	return found
}

// defaultAddress returns the address for a program to read in the image, or the zero value: only this product's
// programs read an address.
func defaultAddress(settings settings, all programs, server plan.Server) plan.Address {
	if !all.readConfig() {
		return plan.Address{}
	}
	return execprobe.DefaultAddress(settings.Config, settings.defaults, server.Address)
}

// programs are the installed programs: a probe, and a bridge or nil.
type programs struct {
	probe  program
	bridge *program
}

// readConfig reports whether a program reads the build's configuration in the image.
func (p programs) readConfig() bool { return p.probe.readsDefaults() || p.bridge != nil }

// obtain returns the programs from the sources in the settings, and the cache layers used. The folder work gets the
// intermediate files.
func obtain(
	ctx libcnb.BuildContext, settings settings, host github.Host, work string, logger log.Logger,
) (programs, []libcnb.Layer, error) {
	if target := ctx.TargetInfo; target.OS == "" || target.Arch == "" {
		return programs{}, nil, fmt.Errorf("reading the target from $CNB_TARGET_OS and $CNB_TARGET_ARCH: %q and %q "+
			"(the platform has to set both, as linux and amd64)", target.OS, target.Arch)
	}
	wanted := []string{settings.Variant}
	if settings.Bridge != config.BridgeFalse {
		wanted = append(wanted, bridgeVariant)
	}
	var found []program
	var caches []libcnb.Layer
	switch settings.Source {
	case config.Compile:
		compiled, cache, err := compile(ctx, wanted, work, logger)
		if err != nil {
			return programs{}, []libcnb.Layer{cache}, err
		}
		found, caches = compiled, []libcnb.Layer{cache}
	case config.Download:
		downloaded, err := download(ctx, host, settings.download, work, logger)
		if err != nil {
			return programs{}, nil, err
		}
		found = append(found, downloaded)
	}
	// Only this buildpack has the bridge, so a downloaded probe gets the bundled bridge.
	for _, variant := range wanted[len(found):] {
		bundled, err := bundledProgram(ctx, variant, work)
		if err != nil {
			return programs{}, nil, err
		}
		found = append(found, bundled)
	}
	all := programs{probe: found[0]}
	if settings.Bridge != config.BridgeFalse {
		all.bridge = &found[1]
	}
	return all, caches, nil
}
