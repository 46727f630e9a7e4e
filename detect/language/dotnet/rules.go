package dotnet

import (
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
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
	// healthBound is an implementation of the health service that a server of Grpc.Core is given. Its source names the
	// namespace of the standard service or not.
	healthBound struct {
		*finding.Site
		isStandard bool
		server     *finding.Site // that it is bound to, nil if that is any of the source
	}
	// libraryHealthMade is where the implementation of package Grpc.HealthCheck is made, or a class of this name.
	libraryHealthMade struct{ *finding.Site }
)

func adds(framework string) finding.Make {
	return func(at *finding.Site, _ string) finding.Finding { return grpcAdded{at, framework} }
}

func mapsAny(at *finding.Site, _ string) finding.Finding { return anyServiceMapped{at} }

func asksForToken(at *finding.Site, _ string) finding.Finding {
	return finding.Authentication{Site: at, OfAll: true}
}

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

// mappedHealthWith matches where the health service is mapped with a convention.
func mappedHealthWith(convention string) *lazyregexp.Regexp {
	return lazyregexp.New(
		receiver + `(?P<at>MapGrpcHealthChecksService\s*\(\s*\)\s*\.\s*` + convention + `)\s*\(`)
}

var rules = []analyzer.Rule{
	{
		Code:   lazyregexp.New(receiver + `(?P<at>MapMagicOnionService\s*(?:<[^>;]*>\s*)?\()`),
		Proves: magicOnionMapped,
	},
	{Code: lazyregexp.New(receiver + `(?P<at>UseMagicOnion\s*\()`), Proves: magicOnionMapped},
	{
		Code:   lazyregexp.New(receiver + `(?P<at>AddMagicOnion\s*\()`),
		Proves: adds(magicOnion),
	},
	{Code: lazyregexp.New(receiver + `(?P<at>AddServiceStackGrpc\s*\()`), Proves: serviceStackServed},
	{Code: lazyregexp.New(`\b(?i:new)\s+(?P<at>GrpcFeature\s*\()`), Proves: serviceStackServed},
	{
		Code:   lazyregexp.New(receiver + `(?P<at>AddCodeFirstGrpc\s*\()`),
		Proves: adds(codeFirst),
	},
	// Saturn.Extensions.gRPC adds and maps in one word.
	{
		Code:    lazyregexp.New(`(?m)^\s*(?P<at>use_grpc)\s`),
		Imports: source.Exactly(`Saturn`),
		Proves:  finding.Registers(codeFirst),
	},
	{
		Code:   lazyregexp.New(receiver + `(?P<at>AddGrpc\s*\()`),
		Proves: adds(aspNetCore),
	},
	{
		Code:   lazyregexp.New(`\b(?P<at>AddGrpc)\s*\(\s*this\b`),
		Proves: func(at *finding.Site, _ string) finding.Finding { return addGrpcDefined{at} },
	},
	// A helper that calls MapGrpcService by reflection maps any class.
	{
		Code: lazyregexp.New(`\b(?i:typeof|nameof|typedefof|GetType)\s*[(<]\s*(?:Of\s+)?` +
			`(?P<at>(?:\w+\.)*GrpcEndpointRouteBuilderExtensions)\b`),
		Proves: mapsAny,
	},
	{Code: lazyregexp.New(receiver + `(?P<at>MapGrpcHealthChecksService\s*\()`), Proves: finding.RegistersHealth},
	{Code: helperCalled, Proves: callsHelper},
	{Code: methodDeclared, Proves: declaresHealth},
	{Code: healthClassHead, Proves: declaresHealth},
	// It answers on some of the ports alone, or asks for a token.
	{Code: mappedHealthWith("RequireHost"), Proves: finding.MayRegisterHealth},
	{Code: mappedHealthWith("RequireAuthorization"), Proves: asksForToken},
	{
		Code:   lazyregexp.New(`\b(?P<at>Health\.BindService)\s*\(`),
		Proves: func(at *finding.Site, _ string) finding.Finding { return healthBound{Site: at} },
	},
	{
		Code:   lazyregexp.New(`\b` + libraryHealth + `\s*\(`),
		Proves: func(at *finding.Site, _ string) finding.Finding { return libraryHealthMade{at.Quiet()} },
	},
	{
		Code: lazyregexp.New(receiver +
			`SetStatus\s*(?P<at>\([^(),]{1,120},[^()]{0,200}(?:[sS]erving|[sS]tatus|[sS]tate)[^()]{0,100}\))`),
		Proves: finding.SetsHealthStatus,
	},
	// It sets the statuses of the implementation as the app's health checks say, that of the whole server too.
	{
		Code:   lazyregexp.New(receiver + `(?P<at>AddGrpcHealthChecks\s*\()`),
		Proves: func(at *finding.Site, _ string) finding.Finding { return finding.SetsHealthStatus(at, `""`) },
	},
	// The health service that an app wrote without generated code, by the path of its method.
	{
		Code:    lazyregexp.New(receiver + `(?P<at>Map(?:Post|Methods)?\s*\(\s*"(?P<literal> +)")`),
		Literal: lazyregexp.New(`^/grpc\.health\.v1\.Health/`),
		Proves:  finding.RegistersHealth,
	},
	// The contract of protobuf-net.Grpc for it, which a client has too.
	{
		Code: lazyregexp.New(`\[\s*(?P<at>(?:ServiceContract(?:Attribute)?\s*\(\s*Name\s*=|` +
			`Service(?:Attribute)?\s*\()\s*"(?P<literal> +)")`),
		Literal: lazyregexp.New(`^grpc\.health\.v1\.Health$`),
		Proves:  finding.MayRegisterHealth,
	},
}

var importDirective = lazyregexp.New(
	`(?m)^\s*(?:global\s+)?(?:using(?:\s+static)?|open|Imports)\s+(?:\w+\s*=\s*)?(?P<name>[\w.]+)`)
