package dotnet

import (
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// The findings whose meaning depends on the rest of the app.
type (
	// serviceMapped is a class that is mapped: a service of the app, or the health service.
	serviceMapped struct {
		*finding.Site
		class string
	}
	// anyServiceMapped is a mapping of whatever class a helper of the app is given.
	anyServiceMapped struct{ *finding.Site }
	// grpcAdded adds gRPC to the services of ASP.NET Core: a server, if no source maps a class.
	grpcAdded struct {
		*finding.Site
		framework string
	}
	// addGrpcDefined is an extension method AddGrpc of the app's own.
	addGrpcDefined struct{ *finding.Site }
	// healthBound is an implementation of the health service that a server of Grpc.Core is given.
	healthBound struct{ *finding.Site }
	// libraryHealthMade is where the implementation of package Grpc.HealthCheck is made, or a class of this name.
	libraryHealthMade struct{ *finding.Site }
	// healthImplemented is a class that implements the health service.
	healthImplemented struct {
		*finding.Site
		class string
	}
)

func adds(framework string) finding.Make {
	return func(at *finding.Site, _ string) finding.Finding { return grpcAdded{at, framework} }
}

func mapsAny(at *finding.Site, _ string) finding.Finding { return anyServiceMapped{at} }

// libraryHealth is the implementation of the health service in package Grpc.HealthCheck. It knows no service until it
// is told one (src/csharp/Grpc.HealthCheck/HealthServiceImpl.cs of grpc).
const libraryHealth = "HealthServiceImpl"

// receiver is the object of a call. A definition of a method has none, which tells the frameworks' own sources from
// apps.
const receiver = `[\w)>\]]\s*\.\s*`

var (
	magicOnionMapped   = finding.Registers(magicOnion)
	serviceStackServed = finding.Registers(serviceStack)
)

var rules = []analyzer.Rule{
	{
		Code:   regexp.MustCompile(receiver + `(?P<at>MapMagicOnionService\s*(?:<[^>;]*>\s*)?\()`),
		Proves: magicOnionMapped,
	},
	{Code: regexp.MustCompile(receiver + `(?P<at>UseMagicOnion\s*\()`), Proves: magicOnionMapped},
	{
		Code:   regexp.MustCompile(receiver + `(?P<at>AddMagicOnion\s*\()`),
		Proves: adds(magicOnion),
	},
	{Code: regexp.MustCompile(receiver + `(?P<at>AddServiceStackGrpc\s*\()`), Proves: serviceStackServed},
	{Code: regexp.MustCompile(`\b(?i:new)\s+(?P<at>GrpcFeature\s*\()`), Proves: serviceStackServed},
	{
		Code:   regexp.MustCompile(receiver + `(?P<at>AddCodeFirstGrpc\s*\()`),
		Proves: adds(codeFirst),
	},
	// Saturn.Extensions.gRPC adds and maps in one word.
	{
		Code:    regexp.MustCompile(`(?m)^\s*(?P<at>use_grpc)\s`),
		Imports: source.Exactly(`Saturn`),
		Proves:  finding.Registers(codeFirst),
	},
	{
		Code:   regexp.MustCompile(receiver + `(?P<at>AddGrpc\s*\()`),
		Proves: adds(aspNetCore),
	},
	{
		Code:   regexp.MustCompile(`\b(?P<at>AddGrpc)\s*\(\s*this\b`),
		Proves: func(at *finding.Site, _ string) finding.Finding { return addGrpcDefined{at} },
	},
	// A helper that calls MapGrpcService by reflection maps any class.
	{
		Code: regexp.MustCompile(`\b(?i:typeof|nameof|typedefof|GetType)\s*[(<]\s*(?:Of\s+)?` +
			`(?P<at>(?:\w+\.)*GrpcEndpointRouteBuilderExtensions)\b`),
		Proves: mapsAny,
	},
	{Code: regexp.MustCompile(receiver + `(?P<at>MapGrpcHealthChecksService\s*\()`), Proves: finding.RegistersHealth},
	{
		Code:   regexp.MustCompile(`\b(?P<at>Health\.BindService)\s*\(`),
		Proves: func(at *finding.Site, _ string) finding.Finding { return healthBound{at} },
	},
	{
		Code:   regexp.MustCompile(`\b` + libraryHealth + `\s*\(`),
		Proves: func(at *finding.Site, _ string) finding.Finding { return libraryHealthMade{at.Quiet()} },
	},
	{
		Code:   regexp.MustCompile(receiver + `SetStatus\s*(?P<at>\(\s*(?:"|[sS]tring\.Empty)[^()]{0,300}\))`),
		Proves: finding.SetsHealthStatus,
	},
	// It sets the statuses of the implementation as the app's health checks say, that of the whole server too.
	{
		Code:   regexp.MustCompile(receiver + `(?P<at>AddGrpcHealthChecks\s*\()`),
		Proves: func(at *finding.Site, _ string) finding.Finding { return finding.SetsHealthStatus(at, `""`) },
	},
	// The health service that an app wrote without generated code, by the path of its method.
	{
		Code:    regexp.MustCompile(receiver + `(?P<at>Map(?:Post|Methods)?\s*\(\s*"(?P<literal> +)")`),
		Literal: regexp.MustCompile(`^/grpc\.health\.v1\.Health/`),
		Proves:  finding.RegistersHealth,
	},
}

var importDirective = regexp.MustCompile(
	`(?m)^\s*(?:global\s+)?(?:using(?:\s+static)?|open|Imports)\s+(?:\w+\s*=\s*)?(?P<name>[\w.]+)`)
