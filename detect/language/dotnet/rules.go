package dotnet

import (
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// named is a finding whose meaning depends on the rest of the app: a name that stands for something of a kind.
type named struct {
	*finding.Site
	kind kind
	name string
}

// kind is what a name stands for. Those that may prove a server come last, the surest at the end.
type kind int

const (
	replaced     kind = iota // settings that are not read and go before those in appsettings.json
	declared                 // a method, or a class, of the app's own with a name like those of libraries
	healthHelper             // a call of a method whose name says that it maps the health service of gRPC
	added                    // gRPC is added to the services of ASP.NET Core, by a framework of that name
	mappedAny                // a helper maps whatever class it is given
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
	// libraryHealth is the implementation of the health service in package Grpc.HealthCheck. It knows no service until
	// it is told one (src/csharp/Grpc.HealthCheck/HealthServiceImpl.cs of grpc).
	libraryHealth = "HealthServiceImpl"
	addGrpc       = "AddGrpc"
	// mapsHealthService is the method that maps it.
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
	// MapGrpcService<T>, or MapGrpcService(Of T), maps a class. Helpers of other libraries, which map classes too, are
	// named like it: MapGrpcSchema<T, IT>.
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
	// It answers on some of the ports alone.
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

	// What is set after appsettings.json goes before it (Microsoft.Extensions.Configuration): a file that is named for
	// the server, a setting of the app's own code, a store.
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

// standardHealth is the namespace of what is generated of the standard health.proto, or that of the library that has
// it. An app's own service may be in one whose name ends like it.
var standardHealth = lazyregexp.New(`(?:^|[^.\w])(?:global::)?Grpc\.Health(?:\.V1|Check)\b`)

// healthRules are for sources with that namespace.
var healthRules = []analyzer.Rule{
	{
		Code: lazyregexp.New(`\b(?:class|Class|type)\s+(?P<at>\w+)[^{;=]*?(?:\)\s*=\s*)?` +
			`(?::|\binherit\b|\bInherits\b)\s*(?:global::)?(?:\w+\.)*Health(?:Base|ServiceImpl)\b`),
		Proves: finding.ImplementsHealth,
	},
	{Code: lazyregexp.New(`\b(?P<at>Health\.BindService)\s*\(`), Proves: finding.RegistersHealth},
}

// emptyHealth is where the implementation of the library is made.
var emptyHealth = lazyregexp.New(`\b` + libraryHealth + `\s*\(`)

// coreTransports are the credentials of Grpc.Core.
var coreTransports = []analyzer.Rule{
	{Code: lazyregexp.New(`\bSslServerCredentials\s*\(`), Proves: finding.UsesTLS},
	{Code: lazyregexp.New(`\bServerCredentials\s*\.\s*Insecure\b`), Proves: finding.Insecure},
}

// coreListens say where servers of Grpc.Core listen.
var coreListens = []analyzer.Listen{{
	Code:     lazyregexp.New(`\b(?:ServerPort|Ports\s*\.\s*Add)\s*\(|\bPorts\s*=\s*\{\s*\{`),
	Argument: 2, Host: 1,
}}

var importDirective = lazyregexp.New(
	`(?m)^\s*(?:global\s+)?(?:using(?:\s+static)?|open|Imports)\s+(?:\w+\s*=\s*)?(?P<name>[\w.]+)`)
