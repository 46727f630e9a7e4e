package build

import (
	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/probe/flags"
)

// reportServers logs the servers of the app, the one that the probe is for first, and a warning if its probes would
// fail.
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

// reportInterpreter logs a warning for a program that needs files of the run image.
func reportInterpreter(logger log.Logger, p program) {
	if p.interpreter != "" {
		logger.Headerf("Warning: the probe is linked dynamically: it cannot run in an image without %q and the "+
			"libraries that it needs", p.interpreter)
	}
}
