package erlang

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	grpcboxServer = finding.Constructs(grpcbox)
	grpcErlServer = finding.WithHealth(finding.Constructs(grpcErl))
)

// commonRules are for all files. The entry in a map of services registers the health service in both frameworks: with
// the module grpcbox_health_service or a module of the app.
var commonRules = []analyzer.Rule{{
	Code:    lazyregexp.New(`(?P<at>'(?P<literal> *)')\s*=>\s*[\w'?]`),
	Literal: source.Exactly(`grpc\.health\.v1\.Health`),
	Proves:  finding.RegistersHealth,
}}

// moduleRules are the calls that start a server of grpcbox (src/grpcbox.erl, src/grpcbox_services_simple_sup.erl), and
// the same functions as the start of a supervisor's child.
var moduleRules = []analyzer.Rule{
	{Code: lazyregexp.New(`\bgrpcbox:(?:start_server|server_child_spec)\s*\(`), Proves: grpcboxServer},
	{
		Code:   lazyregexp.New(`\bgrpcbox_services_s(?:imple_sup:start_child|up:start_link)\s*\(`),
		Proves: grpcboxServer,
	},
	{Code: lazyregexp.New(`\{\s*grpcbox\s*,\s*start_server\s*,`), Proves: grpcboxServer},
	{Code: lazyregexp.New(`\{\s*grpcbox_services_sup\s*,\s*start_link\s*,`), Proves: grpcboxServer},
	{
		Code:   lazyregexp.New(`\bset_env\s*\(\s*grpcbox\s*,\s*servers\s*,\s*(?:\[\s*#\{|[A-Z_])`),
		Proves: grpcboxServer,
	},
}

// transports are the transports of servers (src/grpcbox_pool.erl, src/grpc.erl of grpc-erl).
var transports = []analyzer.Rule{
	{Code: lazyregexp.New(`\bssl\s*=>\s*true\b`), Proves: finding.UsesTLS},
	{Code: lazyregexp.New(`\bssl_options\s*,\s*\[\s*[^\s\]]|\bcertfile\s*,`), Proves: finding.UsesTLS},
	{Code: lazyregexp.New(`\bssl\s*=>\s*false\b|\btransport_opts\s*=>\s*#\{\s*\}`), Proves: finding.Insecure},
	{
		Code:   lazyregexp.New(`\b(?:transport_opts\s*(?:=>|,)|ssl\s*=>|ssl_options\s*,)\s*[A-Z_?]`),
		Proves: finding.UsesOther,
	},
}

var (
	grpcboxEnv = lazyregexp.New(`\{\s*grpcbox\s*,\s*\[`)
	serversEnv = lazyregexp.New(`^\{\s*servers\s*,\s*\[\s*#\{`)
	grpcOpts   = lazyregexp.New(`\bgrpc_opts\s*=>`)
)

// configuredServers returns the servers in an env of grpcbox, as in a sys.config. grpcbox starts the servers at its own
// start (src/grpcbox_app.erl). A server needs grpc_opts (src/grpcbox_services_sup.erl).
func configuredServers(t *source.Text) []finding.Finding {
	var found []finding.Finding
	for _, m := range t.FindAll(grpcboxEnv, maxServers) {
		settings, _ := t.Arguments(m[1])
		for _, s := range settings {
			code := t.Slice(s)
			if at := serversEnv.FindString(code); at != "" && grpcOpts.MatchString(code) {
				found = append(found, grpcboxServer(finding.AtLine(t.Line(s.From), at), at))
			}
		}
	}
	return found
}

var (
	grpcErlStart = lazyregexp.New(`\bgrpc:start_server\s*\(`)
	// defaultServices is the option with the services that grpc-erl adds itself.
	defaultServices = lazyregexp.New(`\{\s*enable_default_services\s*,\s*(?P<value>\[[^\]]*\])`)
)

// grpcErlServers returns the servers of grpc-erl, with their ports. start_server in another package called grpc, of
// Bluehouse-Technology, has tcp or ssl as the second argument.
func grpcErlServers(t *source.Text) []finding.Finding {
	var found []finding.Finding
	names := namesIn(t)
	for _, m := range t.FindAll(grpcErlStart, maxServers) {
		arguments, _ := t.Arguments(m[1])
		if len(arguments) != 3 && len(arguments) != 4 {
			continue
		}
		listenOn := arguments[1]
		if code := t.Slice(listenOn); code == "tcp" || code == "ssl" {
			continue
		}
		a, why := names.Address(listenOn)
		if a.Host == address.UnknownHost && a.Port != 0 {
			a.Host = address.AllInterfaces // src/grpc.erl
		}
		at := finding.At(t, source.Span{From: m[0], To: m[1]})
		found = append(found, grpcErlServer(at, ""), finding.Listens(a, why))
		if len(arguments) == 4 && t.Code[arguments[3].From] != '[' {
			found = append(found, finding.UsesOther(at.Quiet(), ""))
		}
	}
	if len(found) == 0 {
		return nil
	}
	for _, m := range t.FindAll(defaultServices, maxServers) {
		services, _ := t.Group(defaultServices, m, "value")
		if !strings.Contains(services, "'grpc.health.v1.Health'") {
			found = append(found, finding.HealthDisabled{Site: finding.AtLine(t.Line(m[0]), "")})
		}
	}
	return found
}
