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

// ofApp returns rules that leave out what looks like a service of the app and is none.
func ofApp(rules []analyzer.Rule) []analyzer.Rule {
	for i := range rules {
		rules[i].Proves = notOther(rules[i].Proves)
	}
	return rules
}

const armeriaServer = `com\.linecorp\.armeria\.(?:\w+\.)?server\.grpc`

var (
	// healthPackage is an import of what is generated of the standard health.proto, or of one in a package named
	// like it.
	healthPackage = lazyregexp.New(`^(?:[\w.]+\.)?health\.v1\b`)
	// standardHealth is one that is generated of the standard health.proto for sure, by grpc-java or by ServiceTalk.
	standardHealth = lazyregexp.New(`^(?:(?:io\.)?grpc|io\.servicetalk)\.health\.v1\b`)
)

// withServer are the arguments of a call that is given a server, or its builder.
const withServer = `\s*\(\s*(?:\w+\s*,\s*)*(?:\w*(?:[bB]uilder|[sS]erver)\w*|s?b|s|srv)\s*[,)]`

var healthRules = []analyzer.Rule{{
	// HealthGrpc is generated, and io.grpc:grpc-services has it too.
	Code: lazyregexp.New(`(?:\b(?:extends|new|with)\s+|[:,]\s*)` +
		`(?P<at>(?:[\w.]+\.)?HealthGrpc(?:Kt)?\.\w*ImplBase|Health(?:Coroutine)?ImplBase)\b`),
	Imports: healthPackage,
	Proves:  namesHealth,
}, {
	Code: lazyregexp.New(`\bclass\s+(?P<at>\w*Health\w*)\b[^{};]*\b` +
		`(?:HealthGrpc(?:Kt)?\s*\.\s*\w*|Health(?:Coroutine)?)ImplBase\b`),
	Imports: lazyregexp.New(`^io\.grpc\.health\.v1\.`),
	Proves:  implementsHealth,
}, {
	Code:   lazyregexp.New(`\.\s*addService\s*\(\s*(?:new\s+)?(?P<at>\w*Health\w*)\s*\(`),
	Proves: givesHealth,
}, {
	Code:   lazyregexp.New(`\.\s*addService\s*\(\s*(?:this\s*\.\s*)?(?P<at>[a-z]\w*Health\w*|health\w*)\s*[,)]`),
	Proves: callsHelper,
}, {
	Code:   lazyregexp.New(`(?:^|[^.\w])(?P<at>\w*[hH]ealth\w*)(?:\s*\.\s*\w+)?` + withServer),
	Proves: callsHelper,
}, {
	Code: lazyregexp.New(`ServerBuilder\s*\.\s*for\w+\s*\((?:[^;{}\n]|\n\s*\.)*\.\s*` +
		`(?P<at>(?:with|add|register|enable|install)\w*Health\w*)\s*\(`),
	Proves: callsHelper,
}, {
	Code: lazyregexp.New(
		`\b(?:class|object|interface|fun|def)\s+(?:<[^>]*>\s*)?(?:[\w<>*?]+\.)?(?P<at>\w*[hH]ealth\w*)`),
	Proves: declaresHealth,
}, {
	Code:   lazyregexp.New(`\b(?:static|private|void)\s+(?:[\w<>?]+\s+)?(?P<at>\w*[hH]ealth\w*)\s*\(\s*[A-Z]`),
	Proves: declaresHealth,
}, {
	// A server is given all services that a collection has.
	Code: lazyregexp.New(`::\s*addService\b|\.\s*addServices\s*\(|` +
		`\baddService\s*\(\s*(?:it|_|s|svc|srv|service|bindable\w*|(?:service)?[dD]ef\w*)\s*\)`),
	Proves: addsAny,
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
	// ScalaPB, fs2-grpc and ZIO gRPC generate these of the standard health.proto.
	Code: lazyregexp.New(`\b(?P<at>(?:[\w.]+\.)?Health(?:Fs2)?Grpc(?:Trailers)?\s*\.\s*bindService\w*|` +
		`(?:extends|with|new)\s+(?:ZioHealth\.\w*Health|HealthGrpc\.Health)\b)`),
	Imports: healthPackage,
	Proves:  namesHealth,
}, {
	// What is generated for ZIO gRPC is imported by its last name.
	Code:    lazyregexp.New(`\b(?:extends|with|new)\s+(?P<at>(?:G|Z|RC)?Health)\b`),
	Imports: lazyregexp.New(`^(?:[\w.]+\.)?health\.v1\b.*\bZioHealth\b`),
	Proves:  namesHealth,
}, {
	// The services that ServiceTalk and Vert.x generate, and the handler of a method of Vert.x.
	Code: lazyregexp.New(`\b(?:extends|implements|new)\s+(?P<at>(?:[\w.]+\.)?(?:Health\.(?:Blocking)?HealthService|` +
		`HealthGrpcService|VertxHealthGrpc(?:Server)?\.Health\w+))\b`),
	Imports: healthPackage,
	Proves:  namesHealth,
}, {
	Code:    lazyregexp.New(`\.\s*callHandler\s*\(\s*(?P<at>\w*Health\w*\.\w*(?:Check|CHECK)\w*)`),
	Imports: healthPackage,
	Proves:  namesHealth,
}, {
	// A handler that is written by hand names the service.
	Code:    lazyregexp.New(`\bServerServiceDefinition\s*\.\s*builder\s*\(\s*"(?P<literal>[ ]*)"`),
	Literal: source.Exactly(`grpc\.health\.v1\.Health`),
	Imports: imported(`io\.grpc`, `ServerServiceDefinition`),
	Proves:  finding.RegistersHealth,
}, {
	Code: lazyregexp.New(`\bServerServiceDefinition\s*\.\s*builder\s*\(\s*` +
		`(?:[\w.]+\.)?HealthGrpc\s*\.\s*(?:getServiceDescriptor|SERVICE_NAME|SERVICE)\b`),
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
	Code:   lazyregexp.New(`\bHealthHandler(?:Factory)?(?:\s*\.\s*(?:partial|create|withServerReflection))?\s*\(`),
	Proves: callsHealthHandler,
}, {
	Code:   lazyregexp.New(`\bextends\s+(?P<at>(?:[\w.]+\.)?AbstractHealthRouter)\b`),
	Proves: callsHealthHandler,
}}

var serverRules = []analyzer.Rule{{
	Code:    lazyregexp.New(`\b(?:Grpc\s*\.\s*)?newServerBuilderForPort\s*\(`),
	Imports: lazyregexp.New(`^io\.grpc\.(Grpc\b|[*_]$|\{)`),
	Proves:  finding.Constructs(grpcJava),
}, {
	// Until Armeria 0.97 the builder had a constructor of its own.
	Code:    lazyregexp.New(`\bGrpcServiceBuilder\s*\(`),
	Imports: imported(armeriaServer, `GrpcServiceBuilder`),
	Proves:  finding.Constructs(armeria),
}, {
	// A method of a service without generated code (grpc-protocol/.../AbstractUnsafeUnaryGrpcService.java).
	Code:    lazyregexp.New(`(?:\bextends\s+|:\s*)(?P<at>Abstract(?:Unsafe)?UnaryGrpcService)\b`),
	Imports: imported(armeriaServer+`\.protocol`, `Abstract(?:Unsafe)?UnaryGrpcService`),
	Proves:  finding.Constructs(armeria),
}, {
	Code:    lazyregexp.New(`\bextends\s+(?:ServerMain|\w+\.ServerMain)\b|\bServerLayer\s*\.\s*from\w+`),
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
	Proves:  beginsSpring,
}}

const springBootApplication = "SpringBootApplication"

// generatedImport is an import that a class XImplBase, without the class that it lies in, may come from.
var generatedImport = lazyregexp.New(`(Grpc(Kt)?|Triple)\.(\w*ImplBase\b|[*_{])`)

// networkServer is an import of those who have to do with a server of grpc-java that listens on the network.
var networkServer = lazyregexp.New(`^io\.grpc\.(?:\w*ServerBuilder|Server\b|ServerServiceDefinition|` +
	`ServerInterceptors|BindableService|[*_]$|\{|netty\b|okhttp\b)`)

var serviceRules = []analyzer.Rule{{
	Code: lazyregexp.New(
		`\b(?:extends|new|with)\s+(?P<at>(?:[\w.]+\.)?\w+Grpc(?:Kt)?\s*\.\s*\w+ImplBase)\b`),
	Proves: finding.Implements(grpcJava),
}, {
	Code:   lazyregexp.New(`[:,]\s*(?P<at>(?:[\w.]+\.)?\w+Grpc(?:Kt)?\s*\.\s*\w+ImplBase)\s*\(`),
	Proves: finding.Implements(grpcJava),
}, {
	Code:    lazyregexp.New(`\b(?:extends|new|with)\s+(?P<at>\w+ImplBase)\b`),
	Imports: generatedImport,
	Proves:  finding.Implements(grpcJava),
}, {
	Code:    lazyregexp.New(`[:,]\s*(?P<at>\w+ImplBase)\s*\(`),
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
	Proves:  callsHandler(playGRPC),
}, {
	Code:    generatedHandler,
	Imports: lazyregexp.New(`^org\.apache\.pekko\.http\b`),
	Proves:  callsHandler(pekkoGRPC),
}, {
	Code:    generatedHandler,
	Imports: lazyregexp.New(`^akka\.http\b`),
	Proves:  callsHandler(akkaGRPC),
}}

// generatedHandler is what Akka gRPC and Pekko gRPC, which began as a copy of it, make a server with.
var generatedHandler = lazyregexp.New(`(?m)(?:^|[\s(=,{])(?:[a-z]\w*\.)*(?P<at>[A-Z]\w*Handler` +
	`(?:\s*\.\s*(?:partial|withServerReflection)|Factory\s*\.\s*(?:create\w*|partial))?)\s*\(`)
