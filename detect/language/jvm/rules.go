package jvm

import (
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// rules are what the three languages write alike: a subclass by extends and with in Java and Scala, and in Kotlin by a
// colon before the call of the constructor of its superclass.
var rules = append(healthRules, ofApp(slices.Concat(serverRules, annotationRules, serviceRules))...)

// ofApp returns rules that leave out what looks like a service of the app and is none.
func ofApp(rules []analyzer.Rule) []analyzer.Rule {
	for i := range rules {
		rules[i].Proves = notOther(rules[i].Proves)
	}
	return rules
}

const armeriaServer = `com\.linecorp\.armeria\.(?:\w+\.)?server\.grpc`

// healthPackage is an import of what is generated of the standard health.proto.
var healthPackage = regexp.MustCompile(`^(?:[\w.]+\.)?health\.v1\b`)

var healthRules = []analyzer.Rule{{
	// HealthGrpc is generated, and io.grpc:grpc-services has it too.
	Code: regexp.MustCompile(`(?:\b(?:extends|new|with)\s+|[:,]\s*)` +
		`(?P<at>(?:[\w.]+\.)?HealthGrpc(?:Kt)?\.\w*ImplBase|Health(?:Coroutine)?ImplBase)\b`),
	Imports: regexp.MustCompile(`^io\.grpc\.health\.v1\.`),
	Proves:  finding.RegistersHealth,
}, {
	Code: regexp.MustCompile(`\bclass\s+(?P<at>\w*Health\w*)\b[^{};]*\b` +
		`(?:HealthGrpc(?:Kt)?\s*\.\s*\w*|Health(?:Coroutine)?)ImplBase\b`),
	Imports: regexp.MustCompile(`^io\.grpc\.health\.v1\.`),
	Proves:  implementsHealth,
}, {
	Code:   regexp.MustCompile(`\.\s*addService\s*\(\s*(?:new\s+)?(?P<at>\w*Health\w*)\s*\(`),
	Proves: givesHealth,
}, {
	// The manager is made here, or its service is taken from one that is injected.
	Code: regexp.MustCompile(`\bHealthStatusManager\s*(?:\(|::\s*new\b)|::\s*HealthStatusManager\b|` +
		`\.\s*(?:getHealthService\s*\(|healthService\b)`),
	Imports: imported(`io\.grpc(?:\.protobuf)?\.services`, `HealthStatusManager`),
	Proves:  finding.RegistersHealth,
}, {
	// ScalaPB, fs2-grpc and ZIO gRPC generate these of the standard health.proto.
	Code: regexp.MustCompile(`\b(?P<at>(?:[\w.]+\.)?Health(?:Fs2)?Grpc(?:Trailers)?\s*\.\s*bindService\w*|` +
		`(?:extends|with|new)\s+(?:ZioHealth\.\w*Health|HealthGrpc\.Health)\b)`),
	Imports: healthPackage,
	Proves:  finding.RegistersHealth,
}, {
	// A handler that is written by hand names the service.
	Code:    regexp.MustCompile(`\bServerServiceDefinition\s*\.\s*builder\s*\(\s*"(?P<literal>[ ]*)"`),
	Literal: source.Exactly(`grpc\.health\.v1\.Health`),
	Imports: imported(`io\.grpc`, `ServerServiceDefinition`),
	Proves:  finding.RegistersHealth,
}, {
	Code: regexp.MustCompile(`\bServerServiceDefinition\s*\.\s*builder\s*\(\s*` +
		`(?:[\w.]+\.)?HealthGrpc\s*\.\s*(?:getServiceDescriptor|SERVICE_NAME|SERVICE)\b`),
	Imports: imported(`io\.grpc`, `ServerServiceDefinition`),
	Proves:  finding.RegistersHealth,
}, {
	Code:    regexp.MustCompile(`\.\s*enableHealthCheckService\s*\(\s*true`),
	Imports: imported(armeriaServer, `GrpcService`),
	Proves:  finding.RegistersHealth,
}, {
	Code:    regexp.MustCompile(`\bGrpcHealthCheckService\s*\.\s*(?:builder|of)\b`),
	Imports: imported(armeriaServer, `GrpcHealthCheckService`),
	Proves:  finding.RegistersHealth,
}, {
	Code:    regexp.MustCompile(`\bDefaultHealthService\s*\(`),
	Imports: imported(`io\.servicetalk\.grpc\.health`, `DefaultHealthService`),
	Proves:  finding.RegistersHealth,
}, {
	Code:    regexp.MustCompile(`\bHealthService\s*\.\s*create\b`),
	Imports: imported(`io\.vertx\.grpc\.health`, `HealthService`),
	Proves:  finding.RegistersHealth,
}, {
	Code:   regexp.MustCompile(`\bHealthHandler(?:Factory)?(?:\s*\.\s*(?:partial|create|withServerReflection))?\s*\(`),
	Proves: callsHealthHandler,
}, {
	Code:   regexp.MustCompile(`\bextends\s+(?P<at>(?:[\w.]+\.)?AbstractHealthRouter)\b`),
	Proves: callsHealthHandler,
}}

var serverRules = []analyzer.Rule{{
	Code:    regexp.MustCompile(`\bGrpcServerHost\s*\(`),
	Imports: imported(`com\.salesforce\.grpc\.contrib\.spring`, `GrpcServerHost`),
	Proves:  finding.Constructs(grpcJava),
}, {
	Code: regexp.MustCompile(
		`\b(?P<at>(?:Netty|OkHttp|Xds|Alts)?ServerBuilder\s*(?:\.|::)\s*(?:forPort|forAddress))\b`),
	Imports: imported(`io\.grpc(?:\.netty(?:\.shaded\.io\.grpc\.netty)?|\.okhttp|\.xds|\.alts)?`,
		`(?:Netty|OkHttp|Xds|Alts)?ServerBuilder`),
	Proves: finding.Constructs(grpcJava),
}, {
	Code:    regexp.MustCompile(`\b(?:Grpc\s*\.\s*)?newServerBuilderForPort\s*\(`),
	Imports: regexp.MustCompile(`^io\.grpc\.(Grpc\b|[*_]$|\{)`),
	Proves:  finding.Constructs(grpcJava),
}, {
	Code:    regexp.MustCompile(`\bServletServerBuilder\s*\(|\bGrpcServlet\s*\(|\bextends\s+GrpcServlet\b`),
	Imports: imported(`io\.grpc\.servlet(?:\.jakarta)?`, `GrpcServlet|ServletServerBuilder`),
	Proves:  finding.Constructs(grpcServlet),
}, {
	Code:    regexp.MustCompile(`\bGrpc(?:Io)?Server\s*\.\s*server\s*\(`),
	Imports: imported(`io\.vertx\.(?:\w+\.)?grpc(?:io)?\.server`, `Grpc(?:Io)?Server`),
	Proves:  finding.Constructs(vertx),
}, {
	Code:    regexp.MustCompile(`\bVertxServerBuilder\s*\.\s*(?:forPort|forAddress)\s*\(`),
	Imports: imported(`io\.vertx\.grpc`, `VertxServerBuilder`),
	Proves:  finding.Constructs(vertx),
}, {
	Code:    regexp.MustCompile(`\bGrpcService\s*\.\s*builder\s*\(`),
	Imports: imported(armeriaServer, `GrpcService`),
	Proves:  finding.Constructs(armeria),
}, {
	// A method of a service without generated code (grpc-protocol/.../AbstractUnsafeUnaryGrpcService.java).
	Code:    regexp.MustCompile(`(?:\bextends\s+|:\s*)(?P<at>Abstract(?:Unsafe)?UnaryGrpcService)\b`),
	Imports: imported(armeriaServer+`\.protocol`, `Abstract(?:Unsafe)?UnaryGrpcService`),
	Proves:  finding.Constructs(armeria),
}, {
	Code:    regexp.MustCompile(`\bGrpcServers\s*\.\s*(?:forPort|forAddress)\s*\(`),
	Imports: imported(`io\.servicetalk\.grpc\.netty`, `GrpcServers`),
	Proves:  finding.Constructs(serviceTalk),
}, {
	Code:    regexp.MustCompile(`\bGrpcRouting\s*\.\s*builder\s*\(`),
	Imports: imported(`io\.helidon\.webserver\.grpc`, `GrpcRouting`),
	Proves:  finding.Constructs(helidon),
}, {
	Code:    regexp.MustCompile(`\bGrpcServer\s*\.\s*(?:create|builder)\s*\(`),
	Imports: imported(`io\.helidon\.grpc\.server`, `GrpcServer`),
	Proves:  finding.WithHealth(finding.Constructs(helidon)),
}, {
	Code:    regexp.MustCompile(`\bextends\s+(?:ServerMain|\w+\.ServerMain)\b|\bServerLayer\s*\.\s*from\w+`),
	Imports: regexp.MustCompile(`^scalapb\.zio_grpc\b`),
	Proves:  finding.Constructs(zioGRPC),
}, {
	Code:    regexp.MustCompile(`\bProtocolConfig\s*\(\s*(?:CommonConstants\s*\.\s*)?TRIPLE\b`),
	Imports: imported(`org\.apache\.dubbo\.config`, `ProtocolConfig`),
	Proves:  finding.Constructs(dubbo),
}, {
	Code:    regexp.MustCompile(`\bProtocolConfig\s*\(\s*"(?P<literal>[ ]*)"`),
	Literal: source.Exactly(`tri`),
	Imports: imported(`org\.apache\.dubbo\.config`, `ProtocolConfig`),
	Proves:  finding.Constructs(dubbo),
}}

var annotationRules = []analyzer.Rule{{
	Code:    annotation(springBootApplication),
	Imports: imported(`org\.springframework\.boot\.autoconfigure`, springBootApplication),
	Proves:  beginsSpring,
}, {
	Code:    annotation(`GrpcService`),
	Imports: imported(`org\.springframework\.grpc\.server\.service`, `GrpcService`),
	Proves:  finding.WithHealth(finding.Serves(springGRPC)),
}, {
	Code: annotation(`GrpcService`),
	Imports: imported(`net\.devh\.(?:boot\.grpc\.server\.service|springboot\.autoconfigure\.grpc\.server)`,
		`GrpcService`),
	Proves: finding.WithHealth(finding.Serves(netDevh)),
}, {
	Code:    annotation(`GRpcService`),
	Imports: imported(`org\.lognet\.springboot\.grpc`, `GRpcService`),
	Proves:  finding.WithHealth(finding.Serves(logNet)),
}, {
	Code:    annotation(`GrpcService`),
	Imports: imported(`io\.quarkus\.grpc`, `GrpcService`),
	Proves:  finding.WithHealth(finding.Serves(quarkus)),
}, {
	// Helidon MP 4 has Grpc.GrpcService, and Helidon MP 1 to 3 have Grpc. The server of Helidon 4 registers no health
	// service.
	Code:    classAnnotation(`Grpc.GrpcService`),
	Imports: imported(`io\.helidon\.grpc\.api`, `Grpc`),
	Proves:  finding.Serves(helidon),
}, {
	Code:    classAnnotation(`Grpc`),
	Imports: imported(`io\.helidon\.microprofile\.grpc\.core`, `Grpc`),
	Proves:  finding.WithHealth(finding.Serves(helidon)),
}, {
	Code:    annotation(`DubboService`),
	Imports: imported(`org\.apache\.dubbo\.config\.annotation`, `DubboService`),
	Proves:  exportsToDubbo,
}}

const springBootApplication = "SpringBootApplication"

// generatedImport is an import that a class XImplBase, without the class that it lies in, may come from.
var generatedImport = regexp.MustCompile(`(Grpc(Kt)?|Triple)\.(\w*ImplBase\b|[*_{])`)

// networkServer is an import of those who have to do with a server of grpc-java that listens on the network.
var networkServer = regexp.MustCompile(`^io\.grpc\.(?:\w*ServerBuilder|Server\b|ServerServiceDefinition|` +
	`ServerInterceptors|BindableService|[*_]$|\{|netty\b|okhttp\b)`)

var serviceRules = []analyzer.Rule{{
	Code: regexp.MustCompile(
		`\b(?:extends|new|with)\s+(?P<at>(?:[\w.]+\.)?\w+Grpc(?:Kt)?\s*\.\s*\w+ImplBase)\b`),
	Proves: finding.Implements(grpcJava),
}, {
	Code:   regexp.MustCompile(`[:,]\s*(?P<at>(?:[\w.]+\.)?\w+Grpc(?:Kt)?\s*\.\s*\w+ImplBase)\s*\(`),
	Proves: finding.Implements(grpcJava),
}, {
	Code:    regexp.MustCompile(`\b(?:extends|new|with)\s+(?P<at>\w+ImplBase)\b`),
	Imports: generatedImport,
	Proves:  finding.Implements(grpcJava),
}, {
	Code:    regexp.MustCompile(`[:,]\s*(?P<at>\w+ImplBase)\s*\(`),
	Imports: generatedImport,
	Proves:  finding.Implements(grpcJava),
}, {
	Code:   regexp.MustCompile(`\b\w+Fs2Grpc(?:Trailers)?\s*\.\s*bindService\w*\b`),
	Proves: finding.Registers(fs2GRPC),
}, {
	Code:   regexp.MustCompile(`\b\w+Grpc\s*\.\s*bindService\s*\(`),
	Proves: finding.Registers(grpcJava),
}, {
	// A service that the app makes is given to a server that is made elsewhere. A server that takes the services of
	// others is a library: their names are variables there.
	Code: regexp.MustCompile(`\.\s*addService\s*\(\s*(?:ServerInterceptors\s*\.\s*\w+\s*\(\s*)?` +
		`(?:new\s+[A-Z]|[A-Z]\w*\s*\()`),
	Imports: networkServer,
	Proves:  finding.Registers(grpcJava),
}, {
	Code:    regexp.MustCompile(`\bextends\s+(?P<at>(?:[\w.]+\.)?Abstract\w+Router)\b`),
	Imports: regexp.MustCompile(`\bgrpc\b.*\bAbstract\w+Router\b|^(akka|org\.apache\.pekko)\.(actor|stream)\b`),
	Proves:  callsHandler(playGRPC),
}, {
	Code:    serviceHandler,
	Imports: imported(`org\.apache\.pekko\.grpc\.(?:scaladsl|javadsl)`, `ServiceHandler`),
	Proves:  finding.Constructs(pekkoGRPC),
}, {
	Code:    serviceHandler,
	Imports: imported(`akka\.grpc\.(?:scaladsl|javadsl)`, `ServiceHandler`),
	Proves:  finding.Constructs(akkaGRPC),
}, {
	Code:    generatedHandler,
	Imports: regexp.MustCompile(`^org\.apache\.pekko\.http\b`),
	Proves:  callsHandler(pekkoGRPC),
}, {
	Code:    generatedHandler,
	Imports: regexp.MustCompile(`^akka\.http\b`),
	Proves:  callsHandler(akkaGRPC),
}}

// What Akka gRPC and Pekko gRPC, which began as a copy of it, make a server with.
var (
	serviceHandler   = regexp.MustCompile(`\bServiceHandler\s*\.\s*(?:concatOrNotFound|handler|concat)\b`)
	generatedHandler = regexp.MustCompile(`(?m)(?:^|[\s(=,{])(?:[a-z]\w*\.)*(?P<at>[A-Z]\w*Handler` +
		`(?:\s*\.\s*(?:partial|withServerReflection)|Factory\s*\.\s*(?:create\w*|partial))?)\s*\(`)
)

func annotation(name string) *regexp.Regexp {
	return regexp.MustCompile(`@(?:[\w.]+\.)?` + strings.ReplaceAll(name, ".", `\.`) + `\b`)
}

// classAnnotation matches an annotation of a class, with or without others after it. On an interface the same
// annotation makes a client.
func classAnnotation(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?P<at>` + annotation(name).String() + `)(?:\s*\([^)]*\))?` +
		`(?:\s*@[\w.]+(?:\s*\([^)]*\))?)*\s+(?:(?:public|final|abstract|open|internal)\s+)*class\b`)
}
