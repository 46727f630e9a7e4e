package dart

import (
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	importDirective = regexp.MustCompile(`\bimport\s+['"](?P<name> *)['"]`)
	// grpcLibrary is a library of package:grpc that has its server.
	grpcLibrary = source.Exactly(`package:grpc/(grpc|src/server/server)\.dart`)
	// testLibrary is what only tests import.
	testLibrary = source.Exactly(`package:(test|flutter_test|mockito|mocktail)/.*`)
)

var serverConstructed = finding.Constructs(grpcDart)

var rules = []analyzer.Rule{
	// An app may export package:grpc from a file of its own, so the named argument alone is enough.
	{Code: regexp.MustCompile(`\bServer\.create\s*\([^;]*?\bservices\s*:`), Proves: serverConstructed},
	{Code: regexp.MustCompile(`\bServer\.create\s*\(\s*\[`), Imports: grpcLibrary, Proves: serverConstructed},
	{Code: regexp.MustCompile(`(?:[^.\w]|\w\.)(?P<at>(?:Connection)?Server\s*\()\s*` +
		`(?:services\s*:|(?:<\s*(?:\w+\.)?Service\s*>\s*)?\[)`), Imports: grpcLibrary, Proves: serverConstructed},
	{
		Code: regexp.MustCompile(`\bextends\s+(?:\w+\.)?Service\s*\{[^}]{0,400}?` +
			`(?P<at>\$name\s*=>\s*['"](?P<literal> *)['"])`),
		Literal: source.Exactly(`grpc\.health\.v1\.Health`), Imports: grpcLibrary, Proves: finding.RegistersHealth,
	},
}

var (
	serviceBase = regexp.MustCompile(`\bextends\s+(?P<at>(?:\w+\.)?\w+ServiceBase)\b`)
	// A library has implementations too: the program that gives them to a server constructs it.
	serviceImplemented = analyzer.Rule{Code: serviceBase, Proves: finding.Implements(grpcDart)}
	healthImplemented  = analyzer.Rule{Code: serviceBase, Proves: func(at *finding.Site, class string) finding.Finding {
		if strings.HasSuffix(class, "HealthServiceBase") {
			return finding.Health{Site: at}
		}
		return serviceImplemented.Proves(at, class)
	}}

	serviceCall    = regexp.MustCompile(`\bServiceCall\b`)
	healthMessages = regexp.MustCompile(`\bHealthCheckRequest\b`)
)

// rulesOf returns the rules for a text. Other classes have names that end in ServiceBase too: the methods of a gRPC
// service take a ServiceCall. The standard health service is recognized by its messages, because an app may have a
// service of that name of its own.
func rulesOf(t *source.Text) []analyzer.Rule {
	switch {
	case healthMessages.Match(t.Code) && serviceCall.Match(t.Code):
		return append(slices.Clip(rules), healthImplemented)
	case serviceCall.Match(t.Code):
		return append(slices.Clip(rules), serviceImplemented)
	}
	return rules
}
