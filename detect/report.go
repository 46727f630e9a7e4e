package detect

import (
	"fmt"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// report prints the servers found, or a note on the search.
func (f found) report(logger Logger, forced bool) {
	servers := f.servers
	for _, s := range servers[:min(len(servers), plan.MaxListed)] {
		logger.Headerf("gRPC server found: %s", s)
	}
	if more := len(servers) - plan.MaxListed; more > 0 {
		logger.Headerf("gRPC servers found beside these: %d (BP_LOG_LEVEL=DEBUG lists all evidence)", more)
	}
	if why := plan.WhyLeads(servers); why != "" {
		logger.Headerf("The server at %s leads: %s", servers[0].Evidence, why)
	}
	for _, note := range f.notes {
		logger.Headerf("Warning: %s", note)
	}
	if len(f.examples) > 0 && len(servers) == 0 {
		logger.Headerf("%s", f.leftOutServers())
	} else if len(f.examples) > 0 {
		logger.Debugf("%s", f.leftOutServers())
	}
	switch {
	case len(servers) > 0:
		warnOfHealth(logger, servers)
	case forced:
		logger.Headerf("No gRPC server found, but $%s is true", config.EnabledEnv)
	default:
		logger.Headerf("No gRPC server found: %s; $%s=true installs the probe anyway", lookedFor(), config.EnabledEnv)
	}
}

// lookedFor says what counts as a server.
func lookedFor() string {
	return fmt.Sprintf("looked for a server that is constructed or registered in the app's own sources or programs "+
		"(%s)", strings.Join(titles(), ", "))
}

// missing is the error for an app that must have a server and has none. The lifecycle hides the log of a detect phase
// that passes, so the error says everything known.
func (f found) missing() error {
	parts := append([]string{lookedFor()}, f.notes...)
	if len(f.examples) > 0 {
		parts = append(parts, f.leftOutServers())
	}
	return fmt.Errorf("finding a gRPC server, since $%s is %s: %s ($%s=true installs the probe anyway)",
		config.EnabledEnv, config.EnabledRequired, strings.Join(parts, "; "), config.EnabledEnv)
}

func (f found) leftOutServers() string {
	return fmt.Sprintf("gRPC servers of examples or tests left out: %d, the first one at %s", len(f.examples),
		f.examples[0].Evidence)
}

// warnOfHealth names the servers without a health service, and the fix for the leading server.
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
	if len(missing) > plan.MaxListed {
		more = fmt.Sprintf(" and %d more", len(missing)-plan.MaxListed)
	}
	logger.Headerf("Warning: no health service is registered with the servers at %s%s: probes of these will exit 3",
		strings.Join(missing[:min(len(missing), plan.MaxListed)], ", "), more)
}
