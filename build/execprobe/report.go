package execprobe

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Logger gets lines for users.
type Logger interface {
	Headerf(format string, args ...any)
}

// price is what a native probe costs, of the server or of the bridge, as docs/benchmarks.md has it.
const price = "1/9 of an exec probe's CPU time on the node"

// Report ends the log with the probe's path and an exec probe to paste, then what is not known, and what Kubernetes can
// do instead. severalServers says that the app has more than this one, and hasBridge that the bridge is
// installed.
func (p Probe) Report(logger Logger, severalServers, hasBridge bool) {
	of := ""
	if severalServers {
		of = fmt.Sprintf(" # for the server at %s", p.server.Evidence)
	}
	logger.Headerf("Probe: %s", p.Command[0])
	for _, line := range []string{
		"readinessProbe:" + of,
		"  exec:",
		"    command: [" + Quoted(p.Command) + "]" + p.serverFlags(false).remark(),
		fmt.Sprintf("  timeoutSeconds: %d", p.TimeoutSeconds),
	} {
		logger.Headerf("  %s", line)
	}
	for _, line := range p.unknown() {
		logger.Headerf("%s", line)
	}
	if line := p.alternative(hasBridge); line != "" {
		logger.Headerf("%s", line)
	}
}

// ReportFlags warns that each exec probe must give the program its flags.
func ReportFlags(logger Logger) {
	logger.Headerf("Warning: the downloaded probe reads no default flags: each exec probe must give it those "+
		"in $%s, as below", config.ArgsEnv)
}

// unknown says what is not known of the server before the app runs, and what to set.
func (p Probe) unknown() []string {
	if p.isConfigured || p.server.Language == "" {
		return nil
	}
	var lines []string
	a, s := p.server.Address, p.server.Security
	switch {
	case a.Target() == "" && a.Variable != "" && p.readsAddress:
		lines = append(lines, fmt.Sprintf("The probe reads $%s as the app does: set it in the container", a.Variable))
	case !a.IsKnown():
		lines = append(lines, "The address of the server is not known: set -addr in the command, or "+
			"GRPC_HEALTH_PROBE_ADDR in the container's environment")
	}
	const add = "-tls -tls-ca-cert=FILE to the command"
	switch {
	case s.Setting != "" && !s.IsTLS():
		lines = append(lines, fmt.Sprintf("If %s turns TLS on, add %s", plan.Printable(s.Setting), add))
	case s.Setting != "":
		lines = append(lines, fmt.Sprintf("If %s turns TLS off, leave out the -tls flags",
			plan.Printable(s.Setting)))
	case s.Transport == plan.UnknownTransport:
		lines = append(lines, "It is not known whether the server has TLS: if it does, add "+add)
	}
	if s := p.server; s.Health == "" {
		lines = append(lines, fmt.Sprintf("It is not known whether the server has a health service for all of it%s: "+
			"if the probe exits 3, turn that on, or name a service by -service", at(s.HealthEvidence)))
	}
	if p.lacksService {
		lines = append(lines, fmt.Sprintf("It is not known which services the health service%s knows: set -service "+
			"in the command to one of them, unless the whole server is among them",
			at(p.server.HealthEvidence)))
	}
	if s := p.server; s.Authentication != (plan.Place{}) && s.Health != plan.HealthMissing {
		lines = append(lines, fmt.Sprintf("If the server asks checks for a token too (%s), give the probe one by "+
			"-rpc-header-file, or exempt grpc.health.v1.Health", s.Authentication))
	}
	return lines
}

// at returns a place in brackets, "" if it is not known.
func at(place plan.Place) string {
	if place == (plan.Place{}) {
		return ""
	}
	return fmt.Sprintf(" (%s)", place)
}

// alternative says what the kubelet can do by itself, or why it cannot; "" if that is not known, or if the server has
// no health service that it could ask.
func (p Probe) alternative(hasBridge bool) string {
	a, s := p.server.Address, p.server.Security
	if p.isConfigured || p.server.Health == plan.HealthMissing || p.server.Language == "" {
		return ""
	}
	cannot := ""
	switch {
	case s.IsTLS():
		cannot = "verify a server with TLS"
	case a.Host == plan.UnixSocket:
		cannot = "reach a Unix domain socket"
	case a.Host == plan.Loopback && a.Local() != 0:
		cannot = "reach a server that listens on loopback alone"
	}
	switch {
	case cannot != "" && hasBridge:
		return ""
	case cannot != "":
		return fmt.Sprintf("Kubernetes' own gRPC probe cannot %s; the bridge can, for %s: build with %s=%s", cannot,
			price, config.BridgeEnv, config.BridgeLaunch)
	case a.Local() == 0 || s.Transport != plan.Plaintext:
		return ""
	}
	sets, service := "", ""
	if p.server.Service != "" {
		service = ", service: " + p.server.Service
	}
	if a.Variable != "" {
		sets = fmt.Sprintf("; if $%s is set, use its port", a.Variable)
	}
	if a.Host == plan.UnknownHost {
		sets += "; only if the server listens on all interfaces"
	}
	if p.lacksService {
		sets += "; add service: NAME"
	}
	if p.server.Authentication != (plan.Place{}) {
		sets += "; it sends no token"
	}
	return fmt.Sprintf("Or: readinessProbe: {grpc: {port: %d%s}} # the kubelet makes the call, for %s%s", a.Local(),
		service, price, sets)
}

// Quoted returns words as the items of a list in YAML.
func Quoted(words []string) string {
	items := make([]string, len(words))
	for i, word := range words {
		items[i] = strconv.Quote(word)
	}
	return strings.Join(items, ", ")
}
