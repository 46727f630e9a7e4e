package elixir

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// isLibrary is in the sources of the package grpc itself.
	isLibrary = lazyregexp.New(`\bdefmodule\s+GRPC\.(?:Server|Endpoint)\b`)
	// aliasOrConfig is an alias or a configuration in a file, in place of imports.
	aliasOrConfig = lazyregexp.New(`\b(?:alias|config)[\s(]+(?P<name>GRPC\.(?:\w+|\{[^}]*\})|:grpcbox\b)`)
	// useServer is in a module that implements a service.
	useServer = lazyregexp.New(`\buse[\s(]+(?P<at>GRPC\.Server)\b[^.]`)
	// healthMessages is in a file that refers to the generated code of grpc.health.v1, with or without an alias.
	healthMessages = lazyregexp.New(`\bGrpc\.Health\.V1\b`)
)

var serverConstructed = finding.Constructs(grpcElixir)

var commonRules = []analyzer.Rule{
	{Code: lazyregexp.New(`\bGRPC\.Server\.(Supervisor|start|start_endpoint)\b`), Proves: serverConstructed},
	{
		Code:    lazyregexp.New(`[^.\w](?P<at>Server\.(Supervisor|start|start_endpoint))\b`),
		Imports: source.Exactly(`GRPC\.(Server|\{[^}]*\bServer\b[^}]*\})`), Proves: serverConstructed,
	},
	{Code: lazyregexp.New(`\buse[\s(]+(?P<at>GRPC\.Endpoint)\b`), Proves: finding.Registers(grpcElixir)},
	{
		Code: lazyregexp.New(`\bservers:\s*\[\s*%\{\s*:?grpc_opts\b`), Imports: source.Exactly(`:grpcbox`),
		Proves: finding.Constructs(grpcbox),
	},
	{Code: lazyregexp.New(`:grpcbox_health_service\b`), Proves: finding.RegistersHealth},
	// Packages of the health service have a module for an endpoint to run, or for the start of a server.
	{
		Code: lazyregexp.New(`(?:\brun[\s(]+(?:\[(?:[\w.,\s]{0,400}?[\s,])?)?|` +
			`\bServer\.(?:Supervisor\s*,|start\s*\()[\s{\[]*` +
			`(?:servers:\s*)?\[?[\w.,\s]{0,400}?[\s,\[])` +
			`(?P<at>[\w.]*(?i:grpc)[\w.]*Health(?:Check)?(?:\.?(?:Server|Service|V1[\w.]*))?)\b[^.]`),
		Proves: finding.RegistersHealth,
	},
}

// A library has modules with services too: an endpoint or a server runs them. A file with the health service's messages
// implements the health service, and any other file a service of the app.
var (
	rulesWithServices = append(
		slices.Clip(commonRules), analyzer.Rule{Code: useServer, Proves: finding.Implements(grpcElixir)},
	)
	rulesWithHealth = append(
		slices.Clip(commonRules), analyzer.Rule{Code: useServer, Proves: finding.RegistersHealth},
	)
)
