package node

import (
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Findings that have a meaning only beside other findings of the project: see [decide].
type (
	// connectHandler is a call that makes Connect's handlers. Handlers serve gRPC over HTTP/2 only.
	connectHandler struct{ *finding.Site }
	http2Server    struct{ *finding.Site }
	// onlyFor is a finding that counts in a project with servers of a framework.
	onlyFor struct {
		*finding.Site
		framework string
		says      finding.Finding
	}
	// namedHealth is a definition of the health service. listedService registers a service by a variable, which may
	// hold the definition.
	namedHealth   struct{ *finding.Site }
	listedService struct{ *finding.Site }
	// madeHealth is an implementation of the health service in a source. It counts if the source adds none to a server.
	madeHealth struct{ *finding.Site }
	// healthHelper is a call that gives a server to a function named for health. isOwn marks a function of the project.
	healthHelper struct {
		*finding.Site
		isOwn bool
	}
	// healthController is a controller of NestJS for a service Health: the health service, if the server's options have
	// its package. otherPackages are options with other packages only.
	healthController struct{ *finding.Site }
	otherPackages    struct{ *finding.Site }
	// nestServer is a microservice of NestJS with named options. nestOptions are options for gRPC or another transport,
	// with the name of their variable.
	nestServer struct {
		*finding.Site
		name string
	}
	nestOptions struct {
		*finding.Site
		name   string
		isGRPC bool
	}
)

func marks[F interface {
	~struct{ *finding.Site }
	finding.Finding
}](at *finding.Site, _ string) finding.Finding {
	return F(struct{ *finding.Site }{at})
}

var (
	grpcModule    = source.Exactly(`grpc|@grpc/grpc-js(?:/.*)?|@grpc/grpc-js-xds|google-gax`)
	nestModule    = source.Exactly(`@nestjs/microservices(?:/.*)?`)
	fastifyModule = source.Exactly(`fastify|@nestjs/platform-fastify`)
	http2Module   = source.Exactly(`http2`)
	maliModule    = source.Exactly(`mali|@malijs/mali`)
	// healthModule has an implementation of the health service, as grpc-health-check. The implementation of emptyHealth
	// knows no service before a status is set (packages/grpc-health-check/src/health.ts of grpc-node).
	healthModule = source.Exactly(`(?:@[\w-]+/)?[\w-]*grpc[\w-]*health[\w-]*`)
	emptyHealth  = source.Exactly(`grpc(?:-js)?-health-check`)
	// otherModule is a module outside of the app.
	otherModule = lazyregexp.New(`^[^.~#/]`)
	// testModule is a module that only tests and test servers import.
	testModule = source.Exactly(
		`vitest|jest|@jest/.*|mocha|chai|ava|tap|test|bun:test|supertest|sinon|@nestjs/testing|@playwright/test`)

	isConstructed  = lazyregexp.New(`\b(?:new\s+\(?|extends)\s*$`)
	anyServer      = source.Exactly(`(?:grpc\.)?(?:Server|XdsServer)`)
	implementation = source.Exactly(`(?:[Hh]ealth\.)?Implementation|HealthImplementation|GrpcHealthCheck`)
	inAddService   = lazyregexp.New(`\.addService\(\s*$`)
	givesServer    = lazyregexp.New(`^\([^(){};]*(?i:server|grpc)\w*\s*[,)]`)
)

var apiRules = []apiRule{
	{grpcModule, anyServer, afterNew, anywhere, finding.Constructs(grpcJS)},
	{grpcModule, anyServer, inExtends, anywhere, finding.Registers(grpcJS)},
	{source.Exactly(`nice-grpc`), source.Exactly(`createServer`), anywhere, isCall, finding.Constructs(niceGRPC)},
	{maliModule, source.Exactly(`(?:Mali)?`), afterNew, anywhere, finding.Constructs(mali)},
	{source.Exactly(`grpc-kit`), source.Exactly(`createServer`), anywhere, isCall, finding.Constructs(grpcKit)},
	{nestModule, source.Exactly(`Grpc(?:StreamMethod|StreamCall|Method)`), anywhere, isCall, finding.Serves(nestJS)},
	{nestModule, source.Exactly(`ServerGrpc`), isConstructed, anywhere, finding.Registers(nestJS)},
	{http2Module, source.Exactly(`create(?:Secure)?Server`), anywhere, isCall, marks[http2Server]},
	{healthModule, implementation, afterNew, anywhere, marks[madeHealth]},
	{healthModule, source.Exactly(`(?:health\.)?service`), inAddService, anywhere, finding.RegistersHealth},
	{healthModule, source.Exactly(`useHealth|(?:add|register)\w*Health\w*`), anywhere, isCall, finding.RegistersHealth},
	{
		source.Exactly(`nice-grpc-server-health`), source.Exactly(`HealthServiceImpl`), anywhere, isCall,
		finding.RegistersHealth,
	},
	{otherModule, lazyregexp.New(`(?i)health`), anywhere, givesServer, otherHelper},
	{lazyregexp.New(`^\.`), lazyregexp.New(`(?i)health`), anywhere, givesServer, ownHelper},
	{lazyregexp.New(`^\..*[hH]ealth`), anywhere, anywhere, givesServer, ownHelper},
}

func ownHelper(at *finding.Site, _ string) finding.Finding { return healthHelper{at.Quiet(), true} }

func otherHelper(at *finding.Site, _ string) finding.Finding { return healthHelper{at.Quiet(), false} }

// rules match the code of a server, whatever the file imports.
var rules = []analyzer.Rule{
	// A wrapper of the app may have imported grpc.
	{
		Code:   lazyregexp.New(`\bnew\s+\(?(?P<at>(?:[\w$]+\.)*_?(?i:grpc)\w*\.(?:default\.)?Server)\b`),
		Proves: finding.Constructs(grpcJS),
	},
	{
		Code:    lazyregexp.New(`\.addService\(\s*(?:[^;\n,]{1,200}\.service|\.\.\.\s*adaptService\([^;\n,]*)\s*,`),
		Literal: lazyregexp.New(`(?i)grpc`), Proves: finding.Registers(grpcJS),
	},
	{
		Code:    lazyregexp.New(`\.addService\(\s*(?:[\w$]+\.)*\w+(?:Service|Definition)\s*,`),
		Imports: grpcModule, Proves: finding.Registers(grpcJS),
	},
	{
		Code:   lazyregexp.New(`\.addService\(\s*[a-z_$][\w$]*(?:\[[\w$.]+\]|\.definition)?\s*,`),
		Proves: marks[listedService],
	},
	{
		Code:    lazyregexp.New(`\.bind(?:Async\(|\([^;]{1,200}?,\s*[\w$.]*(?i:cred)\w*)`),
		Imports: grpcModule, Proves: finding.Registers(grpcJS),
	},
	bound,
	niceServer,
	connectAdapter,
	{Code: lazyregexp.New(`\.register\(\s*(?P<at>(?:[\w$]+\.)*fastifyConnectPlugin)\b`), Proves: marks[connectHandler]},
	{Code: lazyregexp.New(`\bhttp2\s*:\s*(?:true|!0)`), Imports: fastifyModule, Proves: marks[http2Server]},
	{
		Code:   lazyregexp.New(`\bDaprServer\([^;]{0,400}?\bCommunicationProtocolEnum\.GRPC\b`),
		Proves: finding.Constructs(daprJS),
	},
	{Code: lazyregexp.New(`@Provider\(\s*MSProviderType\.GRPC\b`), Proves: finding.Serves(midway)},
	// Decorators that ts-proto generates for the controllers of NestJS (its option nestJs=true).
	{
		Code: lazyregexp.New(`@\w+ControllerMethods\(\)`), Imports: source.Exactly(`@nestjs/.*`),
		Proves: finding.Serves(nestJS),
	},
}

var (
	bound = analyzer.Rule{
		Code:   lazyregexp.New(`\.bind(?:Async)?\([^;]{1,200}?,\s*\(*(?:\d,\s*)?[\w$.]*\bServerCredentials\.create`),
		Proves: finding.Registers(grpcJS),
	}
	niceServer = analyzer.Rule{
		Code:   lazyregexp.New(`\b(?:import_)?nice_grpc\w*\.createServer\b`),
		Proves: finding.Constructs(niceGRPC),
	}
	connectAdapter = analyzer.Rule{
		Code:   lazyregexp.New(`\bconnectNodeAdapter\s*\)?(?:<[^()]{0,200}>)?\(`),
		Proves: marks[connectHandler],
	}
)

// bundleRules are for bundles with the code of grpc-js itself, which is no evidence about the code of the app.
var bundleRules = []analyzer.Rule{
	bound,
	niceServer,
	connectAdapter,
	{
		Code: lazyregexp.New(`\.addToServer\(`), Literal: lazyregexp.New(`grpc\.health\.v1\.Health`),
		Proves: finding.RegistersHealth,
	},
}

var healthRules = []analyzer.Rule{
	{
		Code: lazyregexp.New(`\.addService\(\s*(?:\.\.\.\s*adaptService\(\s*(?:[\w$]+\.)*Health\s*,|` +
			`(?:[\w$]+\.)*HealthService(?:Definition)?\s*,|[^;\n,]{0,200}\bhealth\.v1\b|` +
			`(?:[\w$]+\.)*Health\.service\b|(?i:\w*health\w*)\.service\b|` +
			`[^;\n,]{1,200},\s*(?:new\s+)?(?:[\w$]+\.)*(?:Grpc)?Health(?:Check)?(?:Service|Server)?` +
			`(?:Impl|Implementation)?\b)`),
		Proves: finding.RegistersHealth,
	},
	// A definition of the service, written by hand.
	{
		Code: lazyregexp.New(`\.addService\(`), Proves: finding.RegistersHealth,
		Literal: lazyregexp.New("[\"'`]/grpc\\.health\\.v1\\.Health/Check[\"'`]"),
	},
	{
		Code:   lazyregexp.New(`(?i:health\w*|impl\w*)(?:\([^;\n]{0,300}\))?\s*\.addToServer\(`),
		Proves: finding.RegistersHealth,
	},
	{Code: lazyregexp.New(`\bnew\s+(?P<at>(?:[\w$]+\.)*HealthImplementation)\(`), Proves: marks[madeHealth]},
	// The server of nice-grpc, and the router of Connect.
	{
		Code:   lazyregexp.New(`\.add\(\s*(?:[\w$]+\.)*Health(?:Service)?Definition\s*,`),
		Proves: finding.RegistersHealth,
	},
	{Code: lazyregexp.New(`\.service\(\s*(?:[\w$]+\.)*Health\s*,`), Proves: finding.RegistersHealth},
	{
		Code: lazyregexp.New(`\bHealth(?:Check)?(?:Definition|Service(?:Definition)?)\b|` +
			`\bhealth\.v1\.Health\.service\b`),
		Proves: marks[namedHealth],
	},
	// Mali and grpc-kit take the name of a service in a string.
	{
		Code: lazyregexp.New(`["'](?P<literal> *)["']`), Imports: source.Exactly(`mali|@malijs/mali|grpc-kit`),
		Literal: lazyregexp.New(`^(?:grpc\.health\.v1\.)?Health$`), Proves: finding.RegistersHealth,
	},
	{
		Code: lazyregexp.New(`@Provider\(\s*MSProviderType\.GRPC\s*,\s*\{\s*` +
			`package\s*:\s*["'](?P<literal> *)["']`),
		Literal: lazyregexp.New(`^grpc\.health\.v1$`), Proves: finding.RegistersHealth,
	},
	// The options of NestJS have the package, a string or a constant that ts-proto generates.
	{
		Code: lazyregexp.New(`["'](?P<literal> *)["']`), Imports: nestModule,
		Literal: lazyregexp.New(`^grpc\.health\.v1$`), Proves: finding.RegistersHealth,
	},
	{Code: lazyregexp.New(`\bGRPC_HEALTH_V1_PACKAGE_NAME\b`), Imports: nestModule, Proves: finding.RegistersHealth},
	{
		Code:    lazyregexp.New(`\bpackage\s*:\s*\[?(?:\s*(?:["'] *["']|(?:\w+\.)*\w+_PACKAGE_NAME)\s*,?)+\s*[\]}\n]`),
		Imports: nestModule, Proves: marks[otherPackages],
	},
	{
		Code: lazyregexp.New(`\bGrpcMethod\(\s*["'](?P<literal> *)["']`), Literal: lazyregexp.New(`^Health$`),
		Proves: marks[healthController],
	},
	{
		Code:   lazyregexp.New(`\bGrpcMethod\(\s*HEALTH_SERVICE_NAME\b|@HealthControllerMethods\(`),
		Proves: marks[healthController],
	},

	// Statuses, in the object of an implementation and in calls.
	{
		Code: lazyregexp.New(`(?P<at>(?:["'] *["']|\[[\w$.]+\]|\b[A-Za-z_]\w*)\s*:\s*` +
			`(?:["'](?P<literal> *)["']|(?:[\w$]+\.)*(?:NOT_)?SERVING\b)|(?:""|'')\s*:\s*[\w$.]+)`),
		Imports: emptyHealth, Literal: lazyregexp.New(`^(?:NOT_)?SERVING$`), Proves: setsHealthProperty,
	},
	{
		Code:    lazyregexp.New(`\.setStatus(?P<at>\([^(),]{1,120},[^()]{1,300})`),
		Imports: emptyHealth, Proves: finding.SetsHealthStatus,
	},
	{
		Code: lazyregexp.New(`\.setStatus(?P<at>\([^(),]{1,120},[^()]{1,300})`),
		Proves: func(at *finding.Site, code string) finding.Finding {
			if !strings.Contains(code, "SERVING") { // may be the status of anything
				return nil
			}
			return finding.SetsHealthStatus(at, code)
		},
	},
	{
		Code:    lazyregexp.New(`\.setStatus(?P<at>\([^()]{1,300})`),
		Imports: source.Exactly(`nice-grpc-server-health`), Proves: setsHealthState,
	},
}

// setsHealthProperty makes the status in a property of an object. The property's name may have no quotes. An answer of
// a server has the property status.
func setsHealthProperty(at *finding.Site, code string) finding.Finding {
	name, value, _ := strings.Cut(code, ":")
	if name == "status" {
		return nil
	}
	if strings.Trim(name, `"'[ `) == name {
		name = strconv.Quote(name)
	}
	return finding.SetsHealthStatus(at, name+":"+value)
}

// setsHealthState makes the status that a call sets in a HealthState: of the service in the second argument or,
// without, of the whole server, which a HealthState knows from the start (packages/nice-grpc-server-health/src of
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

var transports = []analyzer.Rule{
	{Code: lazyregexp.New(`\bServerCredentials\s*\.\s*createInsecure\(`), Proves: finding.Insecure},
	{Code: lazyregexp.New(`\bServerCredentials\s*\.\s*createSsl\(`), Proves: finding.UsesTLS},
	// Credentials from elsewhere.
	{Code: lazyregexp.New(`\.listen\([^();]*,\s*(?P<at>[\w$.]*(?i:cred)\w*)`), Proves: finding.UsesOther},
	{
		Code:    lazyregexp.New(`\bcredentials\s*(?:[,}]|:\s*[\w$.]*(?i:cred|tls|ssl|secur)\w*\s*[^\w\s.])`),
		Imports: nestModule, Proves: finding.UsesOther,
	},
	{Code: lazyregexp.New(`\bcreateSecureServer\(`), Imports: http2Module, Proves: finding.UsesTLS},
	// The option https of Fastify (docs/Reference/Server.md).
	{Code: lazyregexp.New(`\bhttps\s*:\s*\{`), Imports: fastifyModule, Proves: finding.UsesTLS},
	{
		Code: lazyregexp.New(`\bhttps\s*:\s*\w*(?i:tls|ssl|cert|option|https)\w*`), Imports: fastifyModule,
		Proves: finding.UsesOther,
	},
}
