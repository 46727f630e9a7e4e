package jvm

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// rules are what the three languages write alike: a subclass by extends and with in Java and Scala, and in Kotlin by a
// colon before the call of the constructor of its superclass.
var rules = ofApp(slices.Concat(healthRules, libraryRules(), serverRules, serviceRules))

// otherService is what looks like a service of the app and is none: a service that libraries add to a server, or a
// handler of pekko-http or of something else.
var otherService = lazyregexp.New(`(ServerReflection|Channelz|Binlog)\w*ImplBase|` +
	`^(?:[\w.]+\.)?(?:Health|ServerReflection)(?:Fs2)?Grpc(?:Trailers)?\$?\s*\.\s*bind|` +
	`^(WebSocket|Exception|Rejection|Error|Request|Route|Http|Message|Event|Command|Recovery|File|Log|` +
	`Default|Simple)Handler\b`)

// ofApp returns rules that leave out what looks like a service of the app and is none.
func ofApp(rules []analyzer.Rule) []analyzer.Rule {
	for i, r := range rules {
		rules[i].Proves = notOther(r.Proves)
	}
	return rules
}

// notOther makes what another one makes, except of what looks like a service of the app and is none.
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
	// healthPackage is an import of what is generated of the standard health.proto, or of one in a package named
	// like it.
	healthPackage = lazyregexp.New(`^(?:[\w.]+\.)?health\.v1\b`)
	// standardHealth is one that is generated of the standard health.proto for sure, by grpc-java or by ServiceTalk.
	standardHealth = lazyregexp.New(`^(?:(?:io\.)?grpc|io\.servicetalk)\.health\.v1\b`)
)

// The findings that mean something only together with others of the app.
type (
	// conditional is a finding that counts in some builds.
	conditional struct {
		*finding.Site
		needs need
		found finding.Finding
	}
	// healthNamed is the registration of a service Health that may be the app's own: the name of its package ends like
	// that of the standard one, or a handler does not tell the package.
	healthNamed struct {
		*finding.Site
		isHandler  bool // of Akka gRPC, Pekko gRPC or Play
		isStandard bool // the file names grpc.health.v1
	}
	// healthDeclared is a class or a function of the app's own that is named for health. A call of what is not the
	// app's own may register the health service.
	healthDeclared struct {
		*finding.Site
		name string
	}
)

// need is what a conditional finding needs to count.
type need int

const (
	// generator is the plugin that generates handlers XHandler and routers AbstractXRouter.
	generator need = iota
	// triple is the protocol of Dubbo by which its services are served by gRPC.
	triple
	// builtIn is net.devh's starter that makes a server in any case (GrpcServerLifecycle.java), the setting of its
	// port, and nothing else in the app that serves: the server has its built-in services alone. Without the setting,
	// the starter is as often there for clients.
	builtIn
)

// onlyWith makes what another one makes, for the builds that have what it needs.
func onlyWith(needs need, proves finding.Make) finding.Make {
	return func(at *finding.Site, code string) finding.Finding {
		return conditional{at, needs, proves(at, code)}
	}
}

var netDevhServer = lazyregexp.New(`^net\.devh:grpc-server-spring-boot-starter\b`)

func callsHealthHandler(at *finding.Site, _ string) finding.Finding {
	return healthNamed{Site: at, isHandler: true}
}

func namesHealth(at *finding.Site, _ string) finding.Finding { return healthNamed{Site: at} }

func declaresHealth(at *finding.Site, name string) finding.Finding {
	return healthDeclared{at.Quiet(), name}
}

func givesHealth(at *finding.Site, name string) finding.Finding {
	return finding.HealthMade{Site: at.Quiet(), Class: name}
}

var healthRules = []analyzer.Rule{{
	// What grpc-java, grpc-kotlin, ScalaPB, fs2-grpc, ZIO gRPC, ServiceTalk and Vert.x generate of the standard
	// health.proto, which io.grpc:grpc-services has too, and the handler of a method of Vert.x.
	Code: lazyregexp.New(`(?:\b(?:extends|implements|new|with)\s+|[:,]\s*)(?P<at>(?:[\w.]+\.)?` +
		`(?:HealthGrpc(?:Kt)?\.(?:\w*ImplBase|Health\b)|Health(?:Coroutine)?ImplBase|ZioHealth\.\w*Health|` +
		`Health\.(?:Blocking)?HealthService|HealthGrpcService|VertxHealthGrpc(?:Server)?\.Health\w+))\b|` +
		`\b(?P<at>(?:[\w.]+\.)?Health(?:Fs2)?Grpc(?:Trailers)?\s*\.\s*bindService\w*)|` +
		`\.\s*callHandler\s*\(\s*(?P<at>\w*Health\w*\.\w*(?:Check|CHECK)\w*)`),
	Imports: healthPackage,
	Proves:  namesHealth,
}, {
	// What is generated for ZIO gRPC is imported by its last name.
	Code:    lazyregexp.New(`\b(?:extends|with|new)\s+(?P<at>(?:G|Z|RC)?Health)\b`),
	Imports: lazyregexp.New(`^(?:[\w.]+\.)?health\.v1\b.*\bZioHealth\b`),
	Proves:  namesHealth,
}, {
	Code: lazyregexp.New(`\bclass\s+(?P<at>\w*Health\w*)\b[^{};]*\b` +
		`(?:HealthGrpc(?:Kt)?\s*\.\s*\w*|Health(?:Coroutine)?)ImplBase\b`),
	Imports: lazyregexp.New(`^io\.grpc\.health\.v1\.`),
	Proves:  finding.ImplementsHealth,
}, {
	// What is named for health is given to a server, or is given a server or its builder.
	Code: lazyregexp.New(`\.\s*addService\s*\(\s*(?:new\s+|this\s*\.\s*)?(?P<at>\w*[hH]ealth\w*)\s*[(,)]|` +
		`(?:^|[^.\w])(?P<at>\w*[hH]ealth\w*)(?:\s*\.\s*\w+)?` +
		`\s*\(\s*(?:\w+\s*,\s*)*(?:\w*(?:[bB]uilder|[sS]erver)\w*|s?b|s|srv)\s*[,)]|` +
		`ServerBuilder\s*\.\s*for\w+\s*\((?:[^;{}\n]|\n\s*\.)*\.\s*` +
		`(?P<at>(?:with|add|register|enable|install)\w*Health\w*)\s*\(`),
	Proves: givesHealth,
}, {
	Code: lazyregexp.New(
		`\b(?:class|object|interface|fun|def)\s+(?:<[^>]*>\s*)?(?:[\w<>*?]+\.)?(?P<at>\w*[hH]ealth\w*)|` +
			`\b(?:static|private|void)\s+(?:[\w<>?]+\s+)?(?P<at>\w*[hH]ealth\w*)\s*\(\s*[A-Z]`),
	Proves: declaresHealth,
}, {
	// The manager is made here, or its service is taken from one that is injected.
	Code: lazyregexp.New(`\bHealthStatusManager\s*(?:\(|::\s*new\b)|(?:::|\bnew)\s*HealthStatusManager\b|` +
		`\.\s*(?:getHealthService|healthService)\b`),
	Imports: imported(`io\.grpc(?:\.protobuf)?\.services`, `HealthStatusManager`),
	Proves:  finding.RegistersHealth,
}, {
	// They know the whole server from the start (HealthServiceImpl.java of grpc-java, before 1.19 it knew nothing;
	// TriHealthImpl.java of Dubbo, DefaultHealthService.java of ServiceTalk, GrpcHealthStorage.java of Quarkus).
	Code: lazyregexp.New(`\.\s*setStatus\s*(?P<at>\((?:[^(),]|\((?:[^()]|\([^()]*\))*\)){1,200},` +
		`(?:[^()]|\((?:[^()]|\([^()]*\))*\)){1,300}\))`),
	Imports: imported(`io\.grpc(?:\.protobuf)?\.services|org\.apache\.dubbo\.rpc\.protocol\.tri\.service|`+
		`io\.servicetalk\.grpc\.health|io\.quarkus\.grpc\.runtime\.health`,
		`HealthStatusManager|DefaultHealthService|GrpcHealthStorage`),
	Proves: finding.SetsHealthStatus,
}, {
	// A handler that is written by hand names the service.
	Code:    lazyregexp.New(`\bServerServiceDefinition\s*\.\s*builder\s*\(\s*"(?P<literal>[ ]*)"`),
	Literal: source.Exactly(`grpc\.health\.v1\.Health`),
	Imports: imported(`io\.grpc`, `ServerServiceDefinition`),
	Proves:  finding.RegistersHealth,
}, {
	Code:    lazyregexp.New(`\benableHealthCheckService\s*\(\s*true`),
	Imports: imported(armeriaServer, `GrpcService(?:Builder)?`),
	Proves:  finding.RegistersHealth,
}, {
	// The health service of Vert.x knows the services of its server, and of the whole server what the app tells it
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
	// generatedImport is an import that a class XImplBase, without the class that it lies in, may come from.
	generatedImport = lazyregexp.New(`(Grpc(Kt)?|Triple)\.(\w*ImplBase\b|[*_{])`)
	// networkServer is an import of those who have to do with a server of grpc-java that listens on the network.
	networkServer = lazyregexp.New(`^io\.grpc\.(?:\w*ServerBuilder|Server\b|ServerServiceDefinition|` +
		`ServerInterceptors|BindableService|[*_]$|\{|netty\b|okhttp\b)`)
	// generatedHandler is what Akka gRPC and Pekko gRPC, which began as a copy of it, make a server with.
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
	// A service that the app makes is given to a server that is made elsewhere. A server that takes the services of
	// others is a library: their names are variables there.
	Code: lazyregexp.New(`\.\s*addService\s*\(\s*(?:ServerInterceptors\s*\.\s*\w+\s*\(\s*)?` +
		`(?:new\s+[A-Z]|[A-Z]\w*\s*\()`),
	Imports: networkServer,
	Proves:  finding.Registers(grpcJava),
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
