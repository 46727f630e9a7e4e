package dart

import (
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	importDirective = regexp.MustCompile(`\bimport\s+['"](?P<name> *)['"]`)
	// grpcLibrary is a library of package:grpc that has its server.
	grpcLibrary = source.Exactly(`package:grpc/(grpc|src/server/server)\.dart`)
	// testLibrary is what only tests import.
	testLibrary = source.Exactly(`package:(test|flutter_test|mockito|mocktail)/.*`)
)

var (
	serverConstructed = analyzer.Finding{Kind: analyzer.ServerConstructed, Framework: grpcDart}
	// A library has implementations too: the program that gives them to a server constructs it.
	serviceImplemented = analyzer.Finding{Kind: analyzer.ServiceImplemented, Framework: grpcDart}
)

var rules = []analyzer.Rule{
	// An app may export package:grpc from a file of its own, so the named argument alone is enough.
	{Code: regexp.MustCompile(`\bServer\.create\s*\([^;]*?\bservices\s*:`), Finding: serverConstructed},
	{Code: regexp.MustCompile(`\bServer\.create\s*\(\s*\[`), Imports: grpcLibrary, Finding: serverConstructed},
	{Code: regexp.MustCompile(`(?:[^.\w]|\w\.)(?P<at>(?:Connection)?Server\s*\()\s*` +
		`(?:services\s*:|(?:<\s*(?:\w+\.)?Service\s*>\s*)?\[)`), Imports: grpcLibrary, Finding: serverConstructed},
	{
		Code: regexp.MustCompile(`\bextends\s+(?:\w+\.)?Service\s*\{[^}]{0,400}?` +
			`(?P<at>\$name\s*=>\s*['"](?P<literal> *)['"])`),
		Literal: source.Exactly(`grpc\.health\.v1\.Health`), Imports: grpcLibrary,
		Finding: analyzer.Finding{Kind: analyzer.HealthRegistered},
	},
	{Code: regexp.MustCompile(`\bextends\s+(?P<at>(?:\w+\.)?\w+ServiceBase)\b`), Finding: serviceImplemented},
}

var (
	serviceCall    = regexp.MustCompile(`\bServiceCall\b`)
	healthMessages = regexp.MustCompile(`\bHealthCheckRequest\b`)
)

// resolveImplementations leaves out subclasses of other classes whose names end in ServiceBase: the methods of a gRPC
// service take a ServiceCall. The standard health service is recognized by its messages, because an app may have a
// service of that name of its own.
func resolveImplementations(t *source.Text, found []analyzer.Finding) []analyzer.Finding {
	isService, isHealth := serviceCall.Match(t.Code), healthMessages.Match(t.Code)
	var resolved []analyzer.Finding
	for _, f := range found {
		if f.Kind == analyzer.ServiceImplemented && !isService {
			continue
		}
		if isHealth && strings.HasSuffix(f.Excerpt, "HealthServiceBase") {
			f = analyzer.Finding{Kind: analyzer.HealthRegistered}.At(f.Line, f.Excerpt)
		}
		resolved = append(resolved, f)
	}
	return resolved
}
