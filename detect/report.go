package detect

import (
	"fmt"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// maxListed is how many servers the log lists: as many as people read, however many an app is made to have.
const maxListed = 30

// report prints what was found, or what was looked for.
func report(logger Logger, servers []plan.Server, forced bool) {
	for _, s := range servers[:min(len(servers), maxListed)] {
		logger.Headerf("gRPC server found: %s", s)
	}
	if more := len(servers) - maxListed; more > 0 {
		logger.Headerf("gRPC servers found beside these: %d (BP_LOG_LEVEL=DEBUG lists all evidence)", more)
	}
	switch {
	case len(servers) > 0:
		warnOfHealth(logger, servers)
	case forced:
		logger.Headerf("No gRPC server found, but $%s is true", config.EnabledEnv)
	default:
		logger.Headerf("No gRPC server found: looked for a server that is made or registered in the app's own "+
			"sources or "+
			"programs (%s); $%s=true installs the probe all the same", strings.Join(titles(), ", "), config.EnabledEnv)
	}
}

// warnOfHealth says which of the servers have no health service, and what to write into the leading one.
func warnOfHealth(logger Logger, servers []plan.Server) {
	if warning := servers[0].HealthWarning(); warning != "" {
		logger.Headerf("Warning: %s", warning)
	}
	var missing []string
	for _, s := range servers[1:] {
		if s.Health == plan.HealthMissing {
			missing = append(missing, s.Evidence.String())
		}
	}
	if len(missing) == 0 {
		return
	}
	more := ""
	if len(missing) > maxListed {
		more = fmt.Sprintf(" and %d more", len(missing)-maxListed)
	}
	logger.Headerf("Warning: no health service is registered with the servers at %s%s: probes of these will exit 3",
		strings.Join(missing[:min(len(missing), maxListed)], ", "), more)
}
