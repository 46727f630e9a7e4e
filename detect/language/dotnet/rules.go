package dotnet

import (
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// The kinds of findings whose meaning depends on the rest of the app.
const (
	// serviceMapped is a class that is mapped: a service of the app, or the health service.
	serviceMapped analyzer.Kind = "dotnet: service mapped"
	// anyServiceMapped is a mapping of whatever class a helper of the app is given.
	anyServiceMapped analyzer.Kind = "dotnet: any service mapped"
	// grpcAdded adds gRPC to the services of ASP.NET Core: a server, where no source maps a class.
	grpcAdded analyzer.Kind = "dotnet: grpc added"
	// addGrpcDefined is an extension method AddGrpc of the app's own.
	addGrpcDefined analyzer.Kind = "dotnet: AddGrpc defined"
	// healthImplemented is a class that implements the health service.
	healthImplemented analyzer.Kind = "dotnet: health implemented"
	// kestrelListener is a port of ASP.NET Core's server.
	kestrelListener analyzer.Kind = "dotnet: kestrel listener"
)

// receiver is the object of a call. A definition of a method has none, which tells the frameworks' own sources from
// apps.
const receiver = `[\w)>\]]\s*\.\s*`

var (
	healthRegistered   = analyzer.Finding{Kind: analyzer.HealthRegistered}
	magicOnionMapped   = analyzer.Finding{Kind: analyzer.ServiceRegistered, Framework: magicOnion}
	serviceStackServed = analyzer.Finding{Kind: analyzer.ServiceRegistered, Framework: serviceStack}
)

var rules = []analyzer.Rule{
	{
		Code:    regexp.MustCompile(receiver + `(?P<at>MapMagicOnionService\s*(?:<[^>;]*>\s*)?\()`),
		Finding: magicOnionMapped,
	},
	{Code: regexp.MustCompile(receiver + `(?P<at>UseMagicOnion\s*\()`), Finding: magicOnionMapped},
	{
		Code:    regexp.MustCompile(receiver + `(?P<at>AddMagicOnion\s*\()`),
		Finding: analyzer.Finding{Kind: grpcAdded, Framework: magicOnion},
	},
	{Code: regexp.MustCompile(receiver + `(?P<at>AddServiceStackGrpc\s*\()`), Finding: serviceStackServed},
	{Code: regexp.MustCompile(`\b(?i:new)\s+(?P<at>GrpcFeature\s*\()`), Finding: serviceStackServed},
	{
		Code:    regexp.MustCompile(receiver + `(?P<at>AddCodeFirstGrpc\s*\()`),
		Finding: analyzer.Finding{Kind: grpcAdded, Framework: codeFirst},
	},
	// Saturn.Extensions.gRPC adds and maps in one word.
	{
		Code:    regexp.MustCompile(`(?m)^\s*(?P<at>use_grpc)\s`),
		Imports: source.Exactly(`Saturn`),
		Finding: analyzer.Finding{Kind: analyzer.ServiceRegistered, Framework: codeFirst},
	},
	{
		Code:    regexp.MustCompile(receiver + `(?P<at>AddGrpc\s*\()`),
		Finding: analyzer.Finding{Kind: grpcAdded, Framework: aspNetCore},
	},
	{Code: regexp.MustCompile(`\b(?P<at>AddGrpc)\s*\(\s*this\b`), Finding: analyzer.Finding{Kind: addGrpcDefined}},
	// A helper that calls MapGrpcService by reflection maps any class.
	{
		Code: regexp.MustCompile(`\b(?i:typeof|nameof|typedefof|GetType)\s*[(<]\s*(?:Of\s+)?` +
			`(?P<at>(?:\w+\.)*GrpcEndpointRouteBuilderExtensions)\b`),
		Finding: analyzer.Finding{Kind: anyServiceMapped, Framework: aspNetCore},
	},
	{Code: regexp.MustCompile(receiver + `(?P<at>MapGrpcHealthChecksService\s*\()`), Finding: healthRegistered},
	{Code: regexp.MustCompile(`\b(?P<at>Health\.BindService)\s*\(`), Finding: healthRegistered},
	// The health service that an app wrote without generated code, by the path of its method.
	{
		Code:    regexp.MustCompile(receiver + `(?P<at>Map(?:Post|Methods)?\s*\(\s*"(?P<literal> +)")`),
		Literal: regexp.MustCompile(`^/grpc\.health\.v1\.Health/`),
		Finding: healthRegistered,
	},
}

var importDirective = regexp.MustCompile(
	`(?m)^\s*(?:global\s+)?(?:using(?:\s+static)?|open|Imports)\s+(?:\w+\s*=\s*)?(?P<name>[\w.]+)`)
