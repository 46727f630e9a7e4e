package execprobe

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Logger gets lines for users.
type Logger interface {
	Headerf(format string, args ...any)
}

// price is the full cost of a pod for its node, with a native probe of the server or of the bridge, and with an exec
// probe, at Kubernetes' default period (docs/benchmarks.txt, What a pod costs its node).
const price = "asked every 10 s, a pod takes 5 ms of the node's CPU per second, not 8.5"

// Report ends the log: the probe's path, an exec probe to paste, what is unknown, and the alternatives of Kubernetes.
// severalServers means that the app has more than one server, hasBridge that the bridge is installed. Text to paste is
// one line, since pack writes "[builder]" before each.
func (p Probe) Report(logger Logger, severalServers, hasBridge bool) {
	var remarks []string
	switch {
	case severalServers && p.given.Defaults.HasAddress:
		remarks = append(remarks, fmt.Sprintf("for the server at %s, as $%s says", plan.Printable(p.asks.Addr),
			config.ArgsEnv))
	case severalServers && p.searches:
		remarks = append(remarks, fmt.Sprintf("for the server at %s, or for another that runs without it",
			p.given.Server.Evidence))
	case severalServers:
		remarks = append(remarks, fmt.Sprintf("for the server at %s", p.given.Server.Evidence))
	}
	logger.Headerf("Probe: %s", p.Command[0])
	all := []Probe{p}
	if p.liveness != nil {
		all = append(all, *p.liveness)
	}
	for _, p := range all {
		logger.Headerf("  %s: %s%s", p.kind(), p.object(),
			comment(append(slices.Clip(remarks), p.serverFlags(p.searches).remarks...)))
	}
	for _, line := range p.unknown() {
		logger.Headerf("%s", line)
	}
	said := ""
	for _, p := range all {
		if line := p.alternative(hasBridge); line != "" && line != said {
			logger.Headerf("%s", line)
			said = line
		}
	}
}

// ReportFlags warns that a downloaded probe reads no default flags, so the flags must be in each exec probe.
func ReportFlags(logger Logger) {
	logger.Headerf("Warning: the downloaded probe reads no default flags: each exec probe must give it those "+
		"in $%s, as below", config.ArgsEnv)
}

// unknown returns the unknowns about the server before the app runs, and what to set.
func (p Probe) unknown() []string {
	if p.given.Server.Language == "" {
		return nil
	}
	var lines []string
	a, s := p.given.Server.Address, p.given.Server.Security
	switch {
	case p.given.Defaults.HasAddress:
	case a.Target() == "" && p.searches:
		lines = append(lines, "The build does not know where the server listens: the probe finds it in the running "+
			"container, and says what it finds with -discover")
	case !a.IsKnown():
		lines = append(lines, "The address of the server is not known: set -addr in the command, or "+
			"GRPC_HEALTH_PROBE_ADDR in the container's environment")
	}
	const add = "-tls -tls-ca-cert=FILE to the command"
	switch {
	case p.given.Defaults.HasCredentials, p.given.IsOwn:
	case s.Transport == plan.UnknownTransport:
		lines = append(lines, "It is not known whether the server has TLS: if it does, add "+add)
	}
	if s := p.given.Server; s.Health == "" {
		lines = append(lines, fmt.Sprintf("It is not known whether the server has a health service for all of it%s: "+
			"if the probe exits 3, turn that on, or name a service by -service", at(s.HealthEvidence)))
	}
	switch s := p.given.Server; {
	case p.lacksService && s.StatusName != "":
		lines = append(lines, fmt.Sprintf("The app sets the status of the service that %s names%s, which a probe "+
			"without -service does not see: set -service in the command to that name, unless it is empty",
			plan.Printable(s.StatusName), at(s.StatusEvidence)))
	case p.lacksService:
		lines = append(lines, fmt.Sprintf("It is not known which services the health service%s knows: set -service "+
			"in the command to one of them, unless the whole server is among them",
			at(p.given.Server.HealthEvidence)))
	}
	return lines
}

// at returns a place in brackets, "" if unknown.
func at(place plan.Place) string {
	if place == (plan.Place{}) {
		return ""
	}
	return fmt.Sprintf(" (%s)", place)
}

// Quoted returns words as the items of a list in YAML.
func Quoted(words []string) string {
	items := make([]string, len(words))
	for i, word := range words {
		items[i] = strconv.Quote(word)
	}
	return strings.Join(items, ", ")
}
