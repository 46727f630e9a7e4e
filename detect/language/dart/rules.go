package dart

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	importDirective = lazyregexp.New(`\bimport\s+['"](?P<name> *)['"]`)
	// grpcLibrary is a library of package:grpc with the server.
	grpcLibrary = source.Exactly(`package:grpc/(grpc|src/server/server)\.dart`)
	testLibrary = source.Exactly(`package:(test|flutter_test|mockito|mocktail)/.*`)
)

var serverConstructed = finding.Constructs(grpcDart)

var rules = []analyzer.Rule{
	// An app may export package:grpc from its own file, so the named argument alone is enough.
	{Code: lazyregexp.New(`\bServer\.create\s*\([^;]*?\bservices\s*:`), Proves: serverConstructed},
	{Code: lazyregexp.New(`\bServer\.create\s*\(\s*\[`), Imports: grpcLibrary, Proves: serverConstructed},
	{Code: lazyregexp.New(`(?:[^.\w]|\w\.)(?P<at>(?:Connection)?Server\s*\()\s*` +
		`(?:services\s*:|(?:<\s*(?:\w+\.)?Service\s*>\s*)?\[)`), Imports: grpcLibrary, Proves: serverConstructed},
	{
		Code: lazyregexp.New(`\bclass\s+(?P<at>\w+)\s+extends\s+(?:\w+\.)?Service\s*\{[^}]{0,400}?` +
			`\$name\s*=>\s*['"](?P<literal> *)['"]`),
		Literal: source.Exactly(`grpc\.health\.v1\.Health`), Imports: grpcLibrary, Proves: finding.ImplementsHealth,
	},
}

var (
	serviceBase = lazyregexp.New(`\bextends\s+(?P<at>(?:\w+\.)?\w+ServiceBase)\b`)
	// A library has implementations too: the program that gives them to a server constructs the server.
	serviceImplemented = analyzer.Rule{Code: serviceBase, Proves: finding.Implements(grpcDart)}
	healthImplemented  = analyzer.Rule{
		Code:   lazyregexp.New(`\bclass\s+(?P<at>\w+)\s+extends\s+(?:\w+\.)?HealthServiceBase\b`),
		Proves: finding.ImplementsHealth,
	}
	// healthMade is an object of a class that may implement the health service, or a request to a container for one.
	healthMade = lazyregexp.New(`(?:^|[^.\w$])(?P<class>\w*(?:[Hh]ealth|Check|Prob)\w*)(?:>\s*\(|\s*[(.])`)

	classHead = lazyregexp.New(`\bclass\s+(?P<name>\w+)[^{;]*\{`)

	serviceCall    = lazyregexp.New(`\bServiceCall\b`)
	healthMessages = lazyregexp.New(`\bHealthCheckRequest\b`)
)

// rulesOf returns the rules for a text. Other classes have names with ServiceBase at the end too: the methods of a gRPC
// service take a ServiceCall. The standard health service is recognized by its messages, because an app may have its
// own service of the same name.
func rulesOf(t *source.Text) []analyzer.Rule {
	switch {
	case healthMessages.Match(t.Code) && serviceCall.Match(t.Code):
		return append(slices.Clip(rules), serviceImplemented, healthImplemented)
	case serviceCall.Match(t.Code):
		return append(slices.Clip(rules), serviceImplemented)
	}
	return rules
}
