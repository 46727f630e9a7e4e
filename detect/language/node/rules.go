package node

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/node/ecmascript"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// The findings that mean something only together with others of the project: [decide] says what.
type (
	// connectHandler is where Connect's handlers are made. They serve gRPC over HTTP/2 only.
	connectHandler struct{ *finding.Site }
	// http2Server is where HTTP/2 is served.
	http2Server struct{ *finding.Site }
	// httpListener is what an HTTP server listens on.
	httpListener struct{ finding.Listener }
	// httpSecurity is what an HTTP/2 server says of TLS.
	httpSecurity struct{ finding.Security }
	// importedListener is what a server listens on that another module of the app makes.
	importedListener struct {
		finding.Listener
		module, method string
	}
	// healthDefinition is a definition of the health service that is written by hand, for a server or a client.
	healthDefinition struct{ *finding.Site }
	// addedHealth is what is added to a server and may be the health service, with statuses that are not known.
	addedHealth struct{ *finding.Site }
	// namedHealth is a definition of the health service, which may be among those that a server is given by variables,
	// as listedService says that one is.
	namedHealth   struct{ *finding.Site }
	listedService struct{ *finding.Site }
	// importedServer is where a server that another module of the app makes gets its address.
	importedServer struct {
		*finding.Site
		module string
	}
	// healthController is a controller of NestJS for a service Health, which is the health service if the server's
	// options have its package. otherPackages are options whose packages are all others.
	healthController struct{ *finding.Site }
	otherPackages    struct{ *finding.Site }
	// nestServer is a microservice of NestJS whose options are elsewhere in the project. The module and their name
	// there are "" if the file does not say.
	nestServer struct {
		*finding.Site
		module, options string
	}
	// nestOptions are options of NestJS, which may be a server's or a client's, for gRPC or another transport. The name
	// is that of their variable.
	nestOptions struct {
		*finding.Site
		name   string
		isGRPC bool
	}
)

func connectHandled(at *finding.Site, _ string) finding.Finding { return connectHandler{at} }
func http2Served(at *finding.Site, _ string) finding.Finding    { return http2Server{at} }
func healthDefined(at *finding.Site, _ string) finding.Finding  { return healthDefinition{at} }
func healthNamed(at *finding.Site, _ string) finding.Finding    { return namedHealth{at} }
func healthHandled(at *finding.Site, _ string) finding.Finding  { return healthController{at} }

var (
	// interceptor is a function that may be an interceptor, and serverCall is in one of servers.
	interceptor = lazyregexp.New(`(?m)^[ \t]*(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:const|let|var|function)\s+` +
		`(?P<name>\w*[iI]nter?cept\w*)[^\n(]*\(`)
	serverCall    = lazyregexp.New(`\bServerInterceptingCall\b|\bServerListenerBuilder\b`)
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

const (
	called       = ecmascript.Called
	instantiated = ecmascript.Instantiated
	extended     = ecmascript.Extended
)

// apiRule is a row of the table of imported names that prove something.
type apiRule struct {
	module, name *lazyregexp.Regexp
	usage        ecmascript.Usage
	proves       finding.Make
}

var apiRules = []apiRule{
	{grpcModule, source.Exactly(`(?:grpc\.)?(?:Server|XdsServer)`), instantiated, finding.Constructs(grpcJS)},
	{grpcModule, source.Exactly(`(?:grpc\.)?(?:Server|XdsServer)`), extended, finding.Registers(grpcJS)},
	{source.Exactly(`nice-grpc`), source.Exactly(`createServer`), called, finding.Constructs(niceGRPC)},
	{maliModule, source.Exactly(`(?:Mali)?`), instantiated, finding.Constructs(mali)},
	{source.Exactly(`grpc-kit`), source.Exactly(`createServer`), called, finding.Constructs(grpcKit)},
	{nestModule, source.Exactly(`Grpc(?:StreamMethod|StreamCall|Method)`), called, finding.Serves(nestJS)},
	{nestModule, source.Exactly(`ServerGrpc`), instantiated, finding.Registers(nestJS)},
	{nestModule, source.Exactly(`ServerGrpc`), extended, finding.Registers(nestJS)},
	{
		source.Exactly(`@(?:connectrpc|bufbuild)/connect-node`), source.Exactly(`connectNodeAdapter`), called,
		connectHandled,
	},
	{
		source.Exactly(`http2`), source.Exactly(`createServer|createSecureServer`), called,
		http2Served,
	},
	{
		healthModule,
		source.Exactly(`(?:[Hh]ealth\.)?Implementation|GrpcHealthCheck`), instantiated, finding.RegistersHealth,
	},
	{healthModule, source.Exactly(`useHealth|(?:add|register)\w*Health\w*`), called, finding.RegistersHealth},
	{source.Exactly(`nice-grpc-server-health`), source.Exactly(`HealthServiceImpl`), called, finding.RegistersHealth},
}

// unimportedName is a name that is recognized although the file does not import it, because a wrapper of the app does,
// or because a bundler removed the import.
type unimportedName struct {
	usage   ecmascript.Usage
	suffix  string // of every name that the pattern matches: it is compared first, for speed
	pattern *lazyregexp.Regexp
	export  ecmascript.Export
}

func (n unimportedName) matches(u ecmascript.Use) bool {
	return n.usage == u.How && strings.HasSuffix(u.Name, n.suffix) && n.pattern.MatchString(u.Name)
}

// unimportedNames are grpc.Server, what TypeScript and esbuild call the modules nice-grpc and connect-node, and
// connectNodeAdapter, a name that nothing else has.
var unimportedNames = []unimportedName{
	{
		instantiated, "Server", lazyregexp.New(`(?i:(?:^|\.)_?grpc\w*)\.(?:default\.)?Server$`),
		ecmascript.Export{Module: "grpc", Name: "Server"},
	},
	{
		called, "createServer", source.Exactly(`(?:import_)?nice_grpc\w*\.createServer`),
		ecmascript.Export{Module: "nice-grpc", Name: "createServer"},
	},
	{
		called, "connectNodeAdapter", source.Exactly(`(?:(?:import_)?connect_node\w*\.)?connectNodeAdapter`),
		ecmascript.Export{Module: "@connectrpc/connect-node", Name: "connectNodeAdapter"},
	},
}

// rules are what is recognized by the way it is written, whatever the file imports.
var rules = []analyzer.Rule{
	// Decorators and names of packages that ts-proto generates for the controllers of NestJS (its option nestJs=true).
	{Code: lazyregexp.New(`@HealthControllerMethods\(`), Proves: healthHandled},
	{
		Code: lazyregexp.New(`@\w+ControllerMethods\(\)`), Imports: source.Exactly(`@nestjs/.*`),
		Proves: finding.Serves(nestJS),
	},
	{
		Code: lazyregexp.New(`\bGrpcMethod\(\s*["'](?P<literal> *)["']`), Literal: lazyregexp.New(`^Health$`),
		Proves: healthHandled,
	},
	{Code: lazyregexp.New(`\bGrpcMethod\(\s*HEALTH_SERVICE_NAME\b`), Proves: healthHandled},

	{Code: lazyregexp.New(`@Provider\(\s*MSProviderType\.GRPC\b`), Proves: finding.Serves(midway)},
	{
		Code: lazyregexp.New(`@Provider\(\s*MSProviderType\.GRPC\s*,\s*\{\s*` +
			`package\s*:\s*["'](?P<literal> *)["']`),
		Literal: lazyregexp.New(`^grpc\.health\.v1$`), Proves: finding.RegistersHealth,
	},

	{Code: lazyregexp.New(`\bnew\s+(?:[\w$]+\.)*HealthImplementation\(`), Proves: finding.RegistersHealth},
	{
		Code:    lazyregexp.New(`\.setStatus(?P<at>\([^(),]{1,120},[^()]{1,300})`),
		Imports: source.Exactly(`grpc(?:-js)?-health-check`), Proves: finding.SetsHealthStatus,
	},
	{
		Code: lazyregexp.New(`\.setStatus(?P<at>\([^(),]{1,120},[^()]{1,300})`),
		Proves: func(at *finding.Site, code string) finding.Finding {
			if !strings.Contains(code, "SERVING") { // it may be the status of anything
				return nil
			}
			return finding.SetsHealthStatus(at, code)
		},
	},
	{
		Code:    lazyregexp.New(`\.setStatus(?P<at>\([^()]{1,300})`),
		Imports: source.Exactly(`nice-grpc-server-health`), Proves: setsHealthState,
	},
	// The server of nice-grpc, and the router of Connect.
	{
		Code:   lazyregexp.New(`\.add\(\s*(?:[\w$]+\.)*Health(?:Service)?Definition\s*,`),
		Proves: finding.RegistersHealth,
	},
	{Code: lazyregexp.New(`\.service\(\s*(?:[\w$]+\.)*Health\s*,`), Proves: finding.RegistersHealth},
	{
		Code: lazyregexp.New(`\bHealth(?:Check)?(?:Definition|Service(?:Definition)?)\b|` +
			`\bhealth\.v1\.Health\.service\b`),
		Proves: healthNamed,
	},
	// A service definition that is written by hand, in a file that gives it to a server.
	{
		Code:    lazyregexp.New(`\bpath\s*:\s*["'` + "`" + `](?P<literal> *)["'` + "`" + `]\s*,\s*requestStream\b`),
		Literal: lazyregexp.New(`^/grpc\.health\.v1\.Health/Check$`),
		Proves:  healthDefined,
	},
	// Mali and grpc-kit take the name of a service in a string.
	{
		Code: lazyregexp.New(`["'](?P<literal> *)["']`), Imports: source.Exactly(`mali|@malijs/mali|grpc-kit`),
		Literal: lazyregexp.New(`^(?:grpc\.health\.v1\.)?Health$`), Proves: finding.RegistersHealth,
	},

	// fastify({ http2: true })
	{
		Code: lazyregexp.New(`\bhttp2\s*:\s*(?:true|!0)`), Imports: fastifyModule,
		Proves: http2Served,
	},
	{Code: lazyregexp.New(`\.register\(\s*(?P<at>(?:[\w$]+\.)*fastifyConnectPlugin)\b`), Proves: connectHandled},
}

// setsHealthState makes the status that a call sets in a HealthState, which knows the whole server from the start: that
// of the whole server, or of the service that the second argument names (packages/nice-grpc-server-health/src of
// nice-grpc).
func setsHealthState(at *finding.Site, code string) finding.Finding {
	status, service, isNamed := strings.Cut(code, ",")
	switch {
	case !isNamed:
		return finding.HealthStatus{Site: at.Quiet(), OfServer: true}
	case strings.Contains(status, "unhealthy") && !strings.Contains(status, "?"):
		status = "NOT_SERVING"
	}
	return finding.SetsHealthStatus(at, "("+service+", "+status)
}
