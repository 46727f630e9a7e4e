package dotnet

import (
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// named is a finding whose meaning depends on the rest of the app.
type named struct {
	*finding.Site
	kind kind
	name string
}

// kind is the meaning of a name. Kinds that may be evidence of a server come last, with the surest at the end.
type kind int

const (
	replaced     kind = iota // unread settings that take precedence over appsettings.json
	declared                 // a method, or a class, of the app with a name like names of libraries
	healthHelper             // a call of a method named for mapping the health service of gRPC
	added                    // gRPC is added to the services of ASP.NET Core, by a framework of that name
	mappedAny                // a helper maps any class given to the helper
	mapped                   // a class is mapped: a service of the app, or the health service
)

func as(k kind) finding.Make {
	return func(at *finding.Site, code string) finding.Finding {
		if k < healthHelper {
			at = at.Quiet()
		}
		return named{at, k, code}
	}
}

func adds(framework string) finding.Make {
	return func(at *finding.Site, _ string) finding.Finding { return named{at, added, framework} }
}

const (
	// libraryHealth is the implementation of the health service in package Grpc.HealthCheck. HealthServiceImpl knows no
	// service before a status is set (src/csharp/Grpc.HealthCheck/HealthServiceImpl.cs of grpc).
	libraryHealth = "HealthServiceImpl"
	addGrpc       = "AddGrpc"
	// mapsHealthService is the method that maps the health service.
	mapsHealthService = "MapGrpcHealthChecksService"
	// receiver is the object of a call. A definition of a method has none, which tells the frameworks' own sources from
	// apps.
	receiver       = `[\w)>\]]\s*\.\s*`
	grpcHealthName = `(?:Map|Use)\w*(?:Grpc\w*Health|Health\w*Grpc)\w*`
)

var (
	magicOnionMapped   = finding.Registers(magicOnion)
	serviceStackServed = finding.Registers(serviceStack)
)

var rules = []analyzer.Rule{
	{Code: lazyregexp.New(receiver + `(?P<at>(?:MapMagicOnionService|UseMagicOnion)\b)`), Proves: magicOnionMapped},
	{Code: lazyregexp.New(receiver + `(?P<at>AddMagicOnion\s*\()`), Proves: adds(magicOnion)},
	{Code: lazyregexp.New(receiver + `(?P<at>AddServiceStackGrpc\s*\()`), Proves: serviceStackServed},
	{Code: lazyregexp.New(`\b(?i:new)\s+(?P<at>GrpcFeature\s*\()`), Proves: serviceStackServed},
	{Code: lazyregexp.New(receiver + `(?P<at>AddCodeFirstGrpc\s*\()`), Proves: adds(codeFirst)},
	// Saturn.Extensions.gRPC adds and maps in one word.
	{
		Code:    lazyregexp.New(`(?m)^\s*(?P<at>use_grpc)\s`),
		Imports: source.Exactly(`Saturn`),
		Proves:  finding.Registers(codeFirst),
	},
	{Code: lazyregexp.New(receiver + `(?P<at>` + addGrpc + `\s*\()`), Proves: adds(aspNetCore)},
	// MapGrpcService<T>, or MapGrpcService(Of T), maps a class, as do helpers of other libraries with similar names:
	// MapGrpcSchema<T, IT>.
	{
		Code:   lazyregexp.New(receiver + `(?P<at>MapGrpc\w+\s*(?:<|\(\s*Of\s+)\s*[\w.:']+)`),
		Proves: mapsClass,
	},
	{
		Code: lazyregexp.New(receiver + `(?P<at>` + grpcHealthName + `)\s*\(`),
		Proves: func(at *finding.Site, name string) finding.Finding {
			if name == mapsHealthService {
				return finding.Health{Site: at}
			}
			return named{at, healthHelper, name}
		},
	},
	// With RequireHost, the health service answers on some of the ports only.
	{
		Code:   lazyregexp.New(mapsHealthService + `\s*\(\s*\)\s*\.\s*(?P<at>RequireHost)\s*\(`),
		Proves: finding.MayRegisterHealth,
	},
	{Code: lazyregexp.New(`\b(?P<at>` + addGrpc + `|` + grpcHealthName + `)\s*\(\s*this\b`), Proves: as(declared)},
	{Code: lazyregexp.New(`\b(?:class|record)\s+(?P<at>\w*(?i:health)\w*)`), Proves: as(declared)},
	{
		Code: lazyregexp.New(receiver +
			`SetStatus\s*(?P<at>\([^(),]{1,120},[^()]{0,200}(?:[sS]erving|[sS]tatus|[sS]tate)[^()]{0,100}\))`),
		Proves: finding.SetsHealthStatus,
	},
	// AddGrpcHealthChecks sets statuses by the app's health checks, also for the whole server.
	{
		Code:   lazyregexp.New(receiver + `(?P<at>AddGrpcHealthChecks\s*\()`),
		Proves: func(at *finding.Site, _ string) finding.Finding { return finding.SetsHealthStatus(at, `""`) },
	},
	// A health service written without generated code, by the path of its method.
	{
		Code:    lazyregexp.New(receiver + `(?P<at>Map(?:Post|Methods)?\s*\(\s*"(?P<literal> +)")`),
		Literal: lazyregexp.New(`^/grpc\.health\.v1\.Health/`),
		Proves:  finding.RegistersHealth,
	},
	// The contract of protobuf-net.Grpc for the health service. Clients have the contract too.
	{
		Code: lazyregexp.New(`\[\s*(?P<at>(?:ServiceContract(?:Attribute)?\s*\(\s*Name\s*=|` +
			`Service(?:Attribute)?\s*\()\s*"(?P<literal> +)")`),
		Literal: lazyregexp.New(`^grpc\.health\.v1\.Health$`),
		Proves:  finding.MayRegisterHealth,
	},

	// Settings after appsettings.json take precedence (Microsoft.Extensions.Configuration): a file named for the
	// server, a setting of the app's own code, a store.
	{
		Code: lazyregexp.New(`\b(?:AddJsonFile|UseSetting|SetEnvironmentVariable|Configure)\s*\(` +
			`[^";]*"(?P<literal>[ ]+)"|\w*[cC]onfig(?:uration)?\s*\[\s*"(?P<literal>[ ]+)"\s*\]\s*=[^=]`),
		Literal: lazyregexp.New(`(?i)^[^{]*(?:host|server|web|grpc|url|port|endpoint|kestrel:)`),
		Proves:  as(replaced),
	},
	{
		Code: lazyregexp.New(`\bAdd(?:IniFile|XmlFile|YamlFile|InMemoryCollection|AzureAppConfiguration|ConfigServer|` +
			`SystemsManager|VaultConfiguration|Nacos\w*|Apollo|Consul)\s*\(|` +
			`\b(?:Sources\s*\.\s*Clear|CreateEmptyBuilder)\s*\(`),
		Proves: as(replaced),
	},
}

// standardHealth is the namespace of the code generated from the standard health.proto, or of the library with that
// code. The namespace of an app's own service may have the same end.
var standardHealth = lazyregexp.New(`(?:^|[^.\w])(?:global::)?Grpc\.Health(?:\.V1|Check)\b`)

// healthRules are for sources with the namespace standardHealth.
var healthRules = []analyzer.Rule{
	{
		Code: lazyregexp.New(`\b(?:class|Class|type)\s+(?P<at>\w+)[^{;=]*?(?:\)\s*=\s*)?` +
			`(?::|\binherit\b|\bInherits\b)\s*(?:global::)?(?:\w+\.)*Health(?:Base|ServiceImpl)\b`),
		Proves: finding.ImplementsHealth,
	},
	{Code: lazyregexp.New(`\b(?P<at>Health\.BindService)\s*\(`), Proves: finding.RegistersHealth},
}

// emptyHealth is a call that makes the library's implementation.
var emptyHealth = lazyregexp.New(`\b` + libraryHealth + `\s*\(`)

var coreTransports = []analyzer.Rule{
	{Code: lazyregexp.New(`\bSslServerCredentials\s*\(`), Proves: finding.UsesTLS},
	{Code: lazyregexp.New(`\bServerCredentials\s*\.\s*Insecure\b`), Proves: finding.Insecure},
}

// coreListens are the listeners of Grpc.Core.
var coreListens = []analyzer.Listen{{
	Code:     lazyregexp.New(`\b(?:ServerPort|Ports\s*\.\s*Add)\s*\(|\bPorts\s*=\s*\{\s*\{`),
	Argument: 2, Host: 1,
}}

var importDirective = lazyregexp.New(
	`(?m)^\s*(?:global\s+)?(?:using(?:\s+static)?|open|Imports)\s+(?:\w+\s*=\s*)?(?P<name>[\w.]+)`)
