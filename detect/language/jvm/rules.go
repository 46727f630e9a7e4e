package jvm

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// rules cover the common syntax of the three languages: a subclass by extends and with in Java and Scala, and in Kotlin
// by a colon before the constructor call of the superclass.
var rules = ofApp(slices.Concat(healthRules, libraryRules(), serverRules, serviceRules))

// otherService looks like a service of the app and is none: a service added to a server by a library, or a handler of
// pekko-http or of another library.
var otherService = lazyregexp.New(`(ServerReflection|Channelz|Binlog)\w*(?:ImplBase|BlockingServer)|` +
	`^(?:[\w.]+\.)?(?:Health|ServerReflection)(?:Fs2)?Grpc(?:Trailers)?\$?\s*\.\s*bind|` +
	`^(WebSocket|Exception|Rejection|Error|Request|Route|Http|Message|Event|Command|Recovery|File|Log|` +
	`Default|Simple)Handler\b`)

// ofApp changes rules to leave out matches of otherService.
func ofApp(rules []analyzer.Rule) []analyzer.Rule {
	for i, r := range rules {
		rules[i].Proves = notOther(r.Proves)
	}
	return rules
}

// notOther leaves out findings on matches of otherService, unless the finding is about health.
func notOther(proves finding.Make) finding.Make {
	return func(at *finding.Site, code string) finding.Finding {
		f := proves(at, code)
		if otherService.MatchString(code) && !finding.Is[finding.Health](f) && !finding.Is[healthNamed](f) {
			return nil
		}
		return f
	}
}

const armeriaServer = `com\.linecorp\.armeria\.(?:\w+\.)?server\.grpc`

var (
	// healthPackage is an import of code generated from the standard health.proto, or from a package with a similar
	// name.
	healthPackage = lazyregexp.New(`^(?:[\w.]+\.)?health\.v1\b`)
	// standardHealth is an import of code that grpc-java or ServiceTalk certainly generates from the standard
	// health.proto.
	standardHealth = lazyregexp.New(`^(?:(?:io\.)?grpc|io\.servicetalk)\.health\.v1\b`)
)

// Findings that depend on the rest of the app.
type (
	// conditional is a finding that counts only in some builds.
	conditional struct {
		*finding.Site
		needs need
		code  string
		found finding.Finding
	}
	// healthNamed is the registration of a service Health that may be the app's own: the package name ends like the
	// standard package name, or a handler does not tell the package.
	healthNamed struct {
		*finding.Site
		isHandler  bool // of Akka gRPC, Pekko gRPC or Play
		isStandard bool // the file names grpc.health.v1
	}
	// declared is a class or a function of the app that is named for health, or a class of a handler. A call of a
	// function from elsewhere may register the health service, and a handler from elsewhere may be generated.
	declared struct {
		*finding.Site
		name string
	}
)

// need is the condition of a conditional finding.
type need int

const (
	// generator is the plugin that generates handlers XHandler and routers AbstractXRouter.
	generator need = iota
	// triple is Dubbo's protocol for gRPC.
	triple
	// builtIn is net.devh's starter, which always makes a server (GrpcServerLifecycle.java), with the setting of the
	// port, in an app that serves nothing else: the server has only built-in services. Without the setting, the
	// starter is as often there for clients.
	builtIn
)

// onlyWith restricts findings to builds that meet a need.
func onlyWith(needs need, proves finding.Make) finding.Make {
	return func(at *finding.Site, code string) finding.Finding {
		return conditional{at, needs, code, proves(at, code)}
	}
}

var netDevhServer = lazyregexp.New(`^net\.devh:grpc-server-spring-boot-starter\b`)

func callsHealthHandler(at *finding.Site, _ string) finding.Finding {
	return healthNamed{Site: at, isHandler: true}
}

func namesHealth(at *finding.Site, _ string) finding.Finding { return healthNamed{Site: at} }

func declares(at *finding.Site, name string) finding.Finding {
	return declared{at.Quiet(), name}
}

func givesHealth(at *finding.Site, name string) finding.Finding {
	return finding.HealthMade{Site: at.Quiet(), Class: name}
}

var healthRules = []analyzer.Rule{{
	// Code generated from the standard health.proto by grpc-java, grpc-kotlin, ScalaPB, fs2-grpc, ZIO gRPC, ServiceTalk
	// and Vert.x, also in io.grpc:grpc-services, and the handler of a method of Vert.x.
	Code: lazyregexp.New(`(?:\b(?:extends|implements|new|with)\s+|[:,]\s*)(?P<at>(?:[\w.]+\.)?` +
		`(?:HealthGrpc(?:Kt)?\.(?:\w*ImplBase|Health\b)|Health(?:Coroutine)?ImplBase|` +
		`HealthCheckBlockingServer|ZioHealth\.\w*Health|Health\.(?:Blocking)?HealthService|HealthGrpcService|` +
		`VertxHealthGrpc(?:Server)?\.Health\w+))\b|` +
		`\b(?P<at>(?:[\w.]+\.)?Health(?:Fs2)?Grpc(?:Trailers)?\s*\.\s*bindService\w*)|` +
		`\.\s*callHandler\s*\(\s*(?P<at>\w*Health\w*\.\w*(?:Check|CHECK)\w*)`),
	Imports: healthPackage,
	Proves:  namesHealth,
}, {
	// ZIO gRPC's generated code is imported by the last name.
	Code:    lazyregexp.New(`\b(?:extends|with|new)\s+(?P<at>(?:G|Z|RC)?Health)\b`),
	Imports: lazyregexp.New(`^(?:[\w.]+\.)?health\.v1\b.*\bZioHealth\b`),
	Proves:  namesHealth,
}, {
	Code: lazyregexp.New(`\bclass\s+(?P<at>\w*Health\w*)\b[^{};]*\b` +
		`(?:HealthGrpc(?:Kt)?\s*\.\s*\w*|Health(?:Coroutine)?)ImplBase\b`),
	Imports: lazyregexp.New(`^io\.grpc\.health\.v1\.`),
	Proves:  finding.ImplementsHealth,
}, {
	// A value named for health is given to a server, or a function named for health takes a server or a builder.
	Code: lazyregexp.New(`\.\s*addService\s*\(\s*(?:new\s+|this\s*\.\s*)?(?P<at>\w*[hH]ealth\w*)\s*[(,)]|` +
		`(?:^|[^.\w])(?P<at>\w*[hH]ealth\w*)(?:\s*\.\s*\w+)?` +
		`\s*\(\s*(?:\w+\s*,\s*)*(?:\w*(?:[bB]uilder|[sS]erver)\w*|s?b|s|srv)\s*[,)]|` +
		`ServerBuilder\s*\.\s*for\w+\s*\((?:[^;{}\n]|\n\s*\.)*\.\s*` +
		`(?P<at>(?:with|add|register|enable|install)\w*Health\w*)\s*\(`),
	Proves: givesHealth,
}, {
	Code: lazyregexp.New(
		`\b(?:class|object|interface|fun|def)\s+(?:<[^>]*>\s*)?(?:[\w<>*?]+\.)?(?P<at>\w*[hH]ealth\w*)|` +
			`\b(?:static|private|void)\s+(?:[\w<>?]+\s+)?(?P<at>\w*[hH]ealth\w*)\s*\(\s*[A-Z]|` +
			`\b(?:class|object|record)\s+(?P<at>[A-Z]\w*Handler)\b`),
	Proves: declares,
}, {
	// The code constructs the manager, or takes the service from an injected manager.
	Code: lazyregexp.New(`\bHealthStatusManager\s*(?:\(|::\s*new\b)|(?:::|\bnew)\s*HealthStatusManager\b|` +
		`\.\s*(?:getHealthService|healthService)\b`),
	Imports: imported(`io\.grpc(?:\.protobuf)?\.services`, `HealthStatusManager`),
	Proves:  finding.RegistersHealth,
}, {
	// These classes know the whole server from the start (HealthServiceImpl.java of grpc-java, from 1.19 on;
	// TriHealthImpl.java of Dubbo, DefaultHealthService.java of ServiceTalk, GrpcHealthStorage.java of Quarkus).
	Code: lazyregexp.New(`\.\s*setStatus\s*(?P<at>\((?:[^(),]|\((?:[^()]|\([^()]*\))*\)){1,200},` +
		`(?:[^()]|\((?:[^()]|\([^()]*\))*\)){1,300}\))`),
	Imports: imported(`io\.grpc(?:\.protobuf)?\.services|org\.apache\.dubbo\.rpc\.protocol\.tri\.service|`+
		`io\.servicetalk\.grpc\.health|io\.quarkus\.grpc\.runtime\.health`,
		`HealthStatusManager|DefaultHealthService|GrpcHealthStorage`),
	Proves: finding.SetsHealthStatus,
}, {
	// A handwritten handler names the service.
	Code:    lazyregexp.New(`\bServerServiceDefinition\s*\.\s*builder\s*\(\s*"(?P<literal>[ ]*)"`),
	Literal: source.Exactly(`grpc\.health\.v1\.Health`),
	Imports: imported(`io\.grpc`, `ServerServiceDefinition`),
	Proves:  finding.RegistersHealth,
}, {
	Code:    lazyregexp.New(`\benableHealthCheckService\s*\(\s*true`),
	Imports: imported(armeriaServer, `GrpcService(?:Builder)?`),
	Proves:  finding.RegistersHealth,
}, {
	// The action of Misk names the method.
	Code:    lazyregexp.New(`@Grpc\s*\(\s*"(?P<literal>[ ]*)"`),
	Literal: source.Exactly(`/grpc\.health\.v1\.Health/Check`),
	Imports: imported(`misk\.web`, `Grpc`),
	Proves:  finding.RegistersHealth,
}, {
	// The health service of Vert.x knows the services of the server. The app reports the status of the whole server
	// (checkStatus of GrpcHealthV1HandlerBase.java).
	Code:    lazyregexp.New(`\.\s*register\s*(?P<at>\(\s*"[ ]*"\s*,)`),
	Imports: lazyregexp.New(`^io\.vertx\.grpc\.health\b`),
	Proves:  finding.SetsHealthStatus,
}, {
	Code: lazyregexp.New(`\bHealthHandler(?:Factory)?(?:\s*\.\s*(?:partial|create|withServerReflection))?\s*\(|` +
		`\bextends\s+(?P<at>(?:[\w.]+\.)?AbstractHealthRouter)\b`),
	Proves: callsHealthHandler,
}}

const springBootApplication = "SpringBootApplication"

var serverRules = []analyzer.Rule{{
	Code:    lazyregexp.New(`\b(?:Grpc\s*\.\s*)?newServerBuilderForPort\s*\(`),
	Imports: lazyregexp.New(`^io\.grpc\.(Grpc\b|[*_]$|\{)`),
	Proves:  finding.Constructs(grpcJava),
}, {
	Code:    lazyregexp.New(`\bextends\s+(?:\w+\.)?ServerMain\b`),
	Imports: lazyregexp.New(`^scalapb\.zio_grpc\b`),
	Proves:  finding.Constructs(zioGRPC),
}, {
	Code:    lazyregexp.New(`\bBuildServerFromConfig\b`),
	Imports: imported(`higherkindness\.mu\.rpc\.config\.server`, `BuildServerFromConfig`),
	Proves:  finding.Constructs(muScala),
}, {
	Code:    lazyregexp.New(`\bProtocolConfig\s*\(\s*(?:CommonConstants\s*\.\s*)?TRIPLE\b`),
	Imports: imported(`org\.apache\.dubbo\.config`, `ProtocolConfig`),
	Proves:  finding.Constructs(dubbo),
}, {
	Code:    lazyregexp.New(`\bProtocolConfig\s*\(\s*"(?P<literal>[ ]*)"`),
	Literal: source.Exactly(`tri`),
	Imports: imported(`org\.apache\.dubbo\.config`, `ProtocolConfig`),
	Proves:  finding.Constructs(dubbo),
}, {
	Code:    annotation(springBootApplication),
	Imports: imported(`org\.springframework\.boot\.autoconfigure`, springBootApplication),
	Proves:  onlyWith(builtIn, finding.WithHealth(finding.Serves(netDevh))),
}}

var (
	// generatedImport is a possible import of a class XImplBase that the code names without the outer class.
	generatedImport = lazyregexp.New(`(Grpc(Kt)?|Triple)\.(\w*ImplBase\b|[*_{])`)
	// networkServer is an import for a server of grpc-java that listens on the network.
	networkServer = lazyregexp.New(`^io\.grpc\.(?:\w*ServerBuilder|Server\b|ServerServiceDefinition|` +
		`ServerInterceptors|BindableService|[*_]$|\{|netty\b|okhttp\b)`)
	// generatedHandler makes a server of Akka gRPC, or of Pekko gRPC, a former copy of Akka gRPC.
	generatedHandler = lazyregexp.New(`(?m)(?:^|[\s(=,{])(?:[a-z]\w*\.)*(?P<at>[A-Z]\w*Handler` +
		`(?:\s*\.\s*(?:partial|withServerReflection)|Factory\s*\.\s*(?:create\w*|partial))?)\s*\(`)
)

var serviceRules = []analyzer.Rule{{
	Code: lazyregexp.New(`\b(?:extends|new|with)\s+(?P<at>(?:[\w.]+\.)?\w+Grpc(?:Kt)?\s*\.\s*\w+ImplBase)\b|` +
		`[:,]\s*(?P<at>(?:[\w.]+\.)?\w+Grpc(?:Kt)?\s*\.\s*\w+ImplBase)\s*\(`),
	Proves: finding.Implements(grpcJava),
}, {
	Code:    lazyregexp.New(`\b(?:extends|new|with)\s+(?P<at>\w+ImplBase)\b|[:,]\s*(?P<at>\w+ImplBase)\s*\(`),
	Imports: generatedImport,
	Proves:  finding.Implements(grpcJava),
}, {
	Code:   lazyregexp.New(`\b\w+Fs2Grpc(?:Trailers)?\s*\.\s*bindService\w*\b`),
	Proves: finding.Registers(fs2GRPC),
}, {
	Code:   lazyregexp.New(`\b\w+Grpc\s*\.\s*bindService\s*\(`),
	Proves: finding.Registers(grpcJava),
}, {
	// The app gives a newly constructed service to a server made elsewhere. Code that adds variables is a library: the
	// services come from its callers.
	Code: lazyregexp.New(`\.\s*addService\s*\(\s*(?:ServerInterceptors\s*\.\s*\w+\s*\(\s*)?` +
		`(?:new\s+[A-Z]|[A-Z]\w*\s*\()`),
	Imports: networkServer,
	Proves:  finding.Registers(grpcJava),
}, {
	// Wire generates an interface for each method of a service.
	Code: lazyregexp.New(`(?:\)|\bclass\s+\w+)\s*:\s*(?:[\w.]+\s*,\s*)*` +
		`(?P<at>(?:[\w.]+\.)?\w+BlockingServer)\b`),
	Imports: imported(`misk\.web\.actions`, `WebAction`),
	Proves:  finding.Serves(misk),
}, {
	Code:    lazyregexp.New(`\bextends\s+(?P<at>(?:[\w.]+\.)?Abstract\w+Router)\b`),
	Imports: lazyregexp.New(`\bgrpc\b.*\bAbstract\w+Router\b|^(akka|org\.apache\.pekko)\.(actor|stream)\b`),
	Proves:  onlyWith(generator, finding.Serves(playGRPC)),
}, {
	Code: generatedHandler, Imports: lazyregexp.New(`^org\.apache\.pekko\.http\b`),
	Proves: onlyWith(generator, finding.Constructs(pekkoGRPC)),
}, {
	Code: generatedHandler, Imports: lazyregexp.New(`^akka\.http\b`),
	Proves: onlyWith(generator, finding.Constructs(akkaGRPC)),
}}
