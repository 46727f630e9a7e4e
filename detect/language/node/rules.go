package node

import (
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// The kinds of findings that mean something only together with others of the project. PostAnalyze replaces them by
// kinds that mean the same in every language, or leaves them without effect.
const (
	// connectHandler is where Connect's handlers are made. They serve gRPC over HTTP/2 only.
	connectHandler analyzer.Kind = "node: connect handler"
	// http2Server is where HTTP/2 is served.
	http2Server analyzer.Kind = "node: http2 server"
	// httpListener is a port that an HTTP server listens on.
	httpListener analyzer.Kind = "node: http listener"
	// healthDefinition is a definition of the health service that is written by hand, for a server or a client.
	healthDefinition analyzer.Kind = "node: health definition"
	// nestServer is a microservice of NestJS whose options are elsewhere in the project.
	nestServer analyzer.Kind = "node: nestjs server"
	// nestOptions are options of NestJS with Transport.GRPC, which may be a server's or a client's, and
	// nestOtherOptions those with another transport.
	nestOptions      analyzer.Kind = "node: nestjs options"
	nestOtherOptions analyzer.Kind = "node: nestjs options of another transport"
)

var (
	grpcModule    = source.Exactly(`grpc|@grpc/grpc-js(?:/.*)?|@grpc/grpc-js-xds|google-gax`)
	nestModule    = source.Exactly(`@nestjs/microservices(?:/.*)?`)
	fastifyModule = source.Exactly(`fastify|@nestjs/platform-fastify`)
	maliModule    = source.Exactly(`mali|@malijs/mali`)
	// healthModule has an implementation of the health service: grpc-health-check and its kin.
	healthModule = source.Exactly(`(?:@[\w-]+/)?[\w-]*grpc[\w-]*health[\w-]*`)
	// testModule is what only tests, and what serves them, import.
	testModule = source.Exactly(
		`vitest|jest|@jest/.*|mocha|chai|ava|tap|test|bun:test|supertest|sinon|@nestjs/testing|@playwright/test`)
)

func constructed(framework string) analyzer.Finding {
	return analyzer.Finding{Kind: analyzer.ServerConstructed, Framework: framework}
}

func registered(framework string) analyzer.Finding {
	return analyzer.Finding{Kind: analyzer.ServiceRegistered, Framework: framework}
}

// implemented is for classes that the framework serves: it makes the server for the controllers or providers it finds.
func implemented(framework string) analyzer.Finding {
	return analyzer.Finding{Kind: analyzer.ServiceImplemented, Framework: framework, FrameworkServes: true}
}

var (
	connectAdapter   = analyzer.Finding{Kind: connectHandler, Framework: connectNode}
	healthRegistered = analyzer.Finding{Kind: analyzer.HealthRegistered}
)

// apiRule is a row of the table of imported names that prove something.
type apiRule struct {
	module, name *regexp.Regexp
	usage        usage
	finding      analyzer.Finding
}

var apiRules = []apiRule{
	{grpcModule, source.Exactly(`(?:grpc\.)?(?:Server|XdsServer)`), instantiated, constructed(grpcJS)},
	{grpcModule, source.Exactly(`(?:grpc\.)?(?:Server|XdsServer)`), extended, registered(grpcJS)},
	{source.Exactly(`nice-grpc`), source.Exactly(`createServer`), called, constructed(niceGRPC)},
	{maliModule, source.Exactly(`(?:Mali)?`), instantiated, constructed(mali)},
	{source.Exactly(`grpc-kit`), source.Exactly(`createServer`), called, constructed(grpcKit)},
	{nestModule, source.Exactly(`Grpc(?:StreamMethod|StreamCall|Method)`), called, implemented(nestJS)},
	{nestModule, source.Exactly(`ServerGrpc`), instantiated, registered(nestJS)},
	{nestModule, source.Exactly(`ServerGrpc`), extended, registered(nestJS)},
	{
		source.Exactly(`@(?:connectrpc|bufbuild)/connect-node`), source.Exactly(`connectNodeAdapter`), called,
		connectAdapter,
	},
	{
		source.Exactly(`http2`), source.Exactly(`createServer|createSecureServer`), called,
		analyzer.Finding{Kind: http2Server},
	},
	{
		healthModule,
		source.Exactly(`(?:[Hh]ealth\.)?Implementation|GrpcHealthCheck`), instantiated, healthRegistered,
	},
	{healthModule, source.Exactly(`useHealth|(?:add|register)\w*Health\w*`), called, healthRegistered},
	{source.Exactly(`nice-grpc-server-health`), source.Exactly(`HealthServiceImpl`), called, healthRegistered},
}

// unimportedName is a name that is recognized although the file does not import it, because a wrapper of the app does,
// or because a bundler removed the import.
type unimportedName struct {
	usage   usage
	suffix  string // of every name that the pattern matches: it is compared first, for speed
	pattern *regexp.Regexp
	export  export
}

// unimportedNames are grpc.Server, what TypeScript and esbuild call the modules nice-grpc and connect-node, and
// connectNodeAdapter, a name that nothing else has.
var unimportedNames = []unimportedName{
	{
		instantiated, "Server", regexp.MustCompile(`(?i:(?:^|\.)_?grpc\w*)\.(?:default\.)?Server$`),
		export{"grpc", "Server"},
	},
	{
		called, "createServer", source.Exactly(`(?:import_)?nice_grpc\w*\.createServer`),
		export{"nice-grpc", "createServer"},
	},
	{
		called, "connectNodeAdapter", source.Exactly(`(?:(?:import_)?connect_node\w*\.)?connectNodeAdapter`),
		export{"@connectrpc/connect-node", "connectNodeAdapter"},
	},
}

// rules are what is recognized by the way it is written, whatever the file imports.
var rules = []analyzer.Rule{
	// Decorators and names of packages that ts-proto generates for the controllers of NestJS (its option nestJs=true).
	{Code: regexp.MustCompile(`@HealthControllerMethods\(`), Finding: healthRegistered},
	{
		Code: regexp.MustCompile(`@\w+ControllerMethods\(\)`), Imports: source.Exactly(`@nestjs/.*`),
		Finding: implemented(nestJS),
	},
	{
		Code: regexp.MustCompile(`\bGrpcMethod\(\s*["'](?P<literal> *)["']`), Literal: regexp.MustCompile(`^Health$`),
		Finding: healthRegistered,
	},

	{Code: regexp.MustCompile(`@Provider\(\s*MSProviderType\.GRPC\b`), Finding: implemented(midway)},
	{
		Code: regexp.MustCompile(`@Provider\(\s*MSProviderType\.GRPC\s*,\s*\{\s*` +
			`package\s*:\s*["'](?P<literal> *)["']`),
		Literal: regexp.MustCompile(`^grpc\.health\.v1$`), Finding: healthRegistered,
	},

	{Code: regexp.MustCompile(`\bnew\s+(?:[\w$]+\.)*HealthImplementation\(`), Finding: healthRegistered},
	// The server of nice-grpc, and the router of Connect.
	{Code: regexp.MustCompile(`\.add\(\s*(?:[\w$]+\.)*Health(?:Service)?Definition\s*,`), Finding: healthRegistered},
	{Code: regexp.MustCompile(`\.service\(\s*(?:[\w$]+\.)*Health\s*,`), Finding: healthRegistered},
	// A service definition that is written by hand, in a file that gives it to a server.
	{
		Code:    regexp.MustCompile(`\bpath\s*:\s*["'` + "`" + `](?P<literal> *)["'` + "`" + `]\s*,\s*requestStream\b`),
		Literal: regexp.MustCompile(`^/grpc\.health\.v1\.Health/Check$`),
		Finding: analyzer.Finding{Kind: healthDefinition},
	},
	// Mali and grpc-kit take the name of a service in a string.
	{
		Code: regexp.MustCompile(`["'](?P<literal> *)["']`), Imports: source.Exactly(`mali|@malijs/mali|grpc-kit`),
		Literal: regexp.MustCompile(`^(?:grpc\.health\.v1\.)?Health$`), Finding: healthRegistered,
	},

	// fastify({ http2: true })
	{
		Code: regexp.MustCompile(`\bhttp2\s*:\s*(?:true|!0)`), Imports: fastifyModule,
		Finding: analyzer.Finding{Kind: http2Server},
	},
	{Code: regexp.MustCompile(`\.register\(\s*(?P<at>(?:[\w$]+\.)*fastifyConnectPlugin)\b`), Finding: connectAdapter},
}
