package build

import (
	"strings"

	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/probe/flags"
)

// reportServers logs the servers of the app, first the probe's, and a warning if the probes would fail.
func reportServers(logger log.Logger, servers plan.Servers, defaults flags.Defaults) {
	if len(servers.Listed) == 0 {
		logger.Header("No gRPC server found; the build requires the probe")
		return
	}
	logger.Headerf("gRPC server: %s", servers.Lead())
	for _, other := range servers.Listed[1:] {
		logger.Headerf("also found: %s", other)
	}
	if servers.Unlisted > 0 {
		logger.Headerf("also found: %d more", servers.Unlisted)
	}
	if servers.WhyLeads != "" {
		logger.Headerf("The server at %s leads: %s", servers.Lead().Evidence, servers.WhyLeads)
	}
	if warning := servers.Lead().HealthWarning(); warning != "" && defaults.NeedsHealth {
		logger.Headerf("Warning: %s", warning)
	}
}

// reportCredentials logs a warning for headers with credentials among the default flags in the image, if any.
func reportCredentials(logger log.Logger, args []string, defaults flags.Defaults) {
	if names := defaults.Credentials; len(args) > 0 && len(names) > 0 {
		logger.Headerf("Warning: $%s writes a credential into a layer of the image (%s): mount it as a file, and set "+
			"-rpc-header-file=%s=PATH instead of -rpc-header", config.ArgsEnv, strings.Join(names, ", "), names[0])
	}
}

// reportInterpreter logs a warning for a program that needs files of the run image.
func reportInterpreter(logger log.Logger, p program) {
	if p.interpreter != "" {
		logger.Headerf("Warning: the probe is linked dynamically: it cannot run in an image without %q and the "+
			"libraries that it needs", p.interpreter)
	}
}
