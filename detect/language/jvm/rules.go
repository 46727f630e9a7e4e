package jvm

import (
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// rules are what the three languages write alike: a subclass by extends and with in Java and Scala, and in Kotlin by a
// colon before the call of the constructor of its superclass.
var rules = slices.Concat(healthRules, serverRules, annotationRules, serviceRules)

const armeriaServer = `com\.linecorp\.armeria\.(?:\w+\.)?server\.grpc`

// healthPackage is an import of what is generated of the standard health.proto.
var healthPackage = regexp.MustCompile(`^(?:[\w.]+\.)?health\.v1\b`)

var healthRules = []analyzer.Rule{{
	// HealthGrpc is generated, and io.grpc:grpc-services has it too.
	Code: regexp.MustCompile(`(?:\b(?:extends|new|with)\s+|[:,]\s*)` +
		`(?P<at>(?:[\w.]+\.)?HealthGrpc(?:Kt)?\.\w*ImplBase|Health(?:Coroutine)?ImplBase)\b`),
	Imports: regexp.MustCompile(`^io\.grpc\.health\.v1\.`),
	Finding: healthRegistered,
}, {
	// The manager is made here, or its service is taken from one that is injected.
	Code: regexp.MustCompile(`\bHealthStatusManager\s*(?:\(|::\s*new\b)|::\s*HealthStatusManager\b|` +
		`\.\s*(?:getHealthService\s*\(|healthService\b)`),
	Imports: imported(`io\.grpc(?:\.protobuf)?\.services`, `HealthStatusManager`),
	Finding: healthRegistered,
}, {
	// ScalaPB, fs2-grpc and ZIO gRPC generate these of the standard health.proto.
	Code: regexp.MustCompile(`\b(?P<at>(?:[\w.]+\.)?Health(?:Fs2)?Grpc(?:Trailers)?\s*\.\s*bindService\w*|` +
		`(?:extends|with|new)\s+(?:ZioHealth\.\w*Health|HealthGrpc\.Health)\b)`),
	Imports: healthPackage,
	Finding: healthRegistered,
}, {
	// A handler that is written by hand names the service.
	Code:    regexp.MustCompile(`\bServerServiceDefinition\s*\.\s*builder\s*\(\s*"(?P<literal>[ ]*)"`),
	Literal: source.Exactly(`grpc\.health\.v1\.Health`),
	Imports: imported(`io\.grpc`, `ServerServiceDefinition`),
	Finding: healthRegistered,
}, {
	Code: regexp.MustCompile(`\bServerServiceDefinition\s*\.\s*builder\s*\(\s*` +
		`(?:[\w.]+\.)?HealthGrpc\s*\.\s*(?:getServiceDescriptor|SERVICE_NAME|SERVICE)\b`),
	Imports: imported(`io\.grpc`, `ServerServiceDefinition`),
	Finding: healthRegistered,
}, {
	Code:    regexp.MustCompile(`\.\s*enableHealthCheckService\s*\(\s*true`),
	Imports: imported(armeriaServer, `GrpcService`),
	Finding: healthRegistered,
}, {
	Code:    regexp.MustCompile(`\bGrpcHealthCheckService\s*\.\s*(?:builder|of)\b`),
	Imports: imported(armeriaServer, `GrpcHealthCheckService`),
	Finding: healthRegistered,
}, {
	Code:    regexp.MustCompile(`\bDefaultHealthService\s*\(`),
	Imports: imported(`io\.servicetalk\.grpc\.health`, `DefaultHealthService`),
	Finding: healthRegistered,
}, {
	Code:    regexp.MustCompile(`\bHealthService\s*\.\s*create\b`),
	Imports: imported(`io\.vertx\.grpc\.health`, `HealthService`),
	Finding: healthRegistered,
}, {
	Code:    regexp.MustCompile(`\bHealthHandler(?:Factory)?(?:\s*\.\s*(?:partial|create|withServerReflection))?\s*\(`),
	Finding: analyzer.Finding{Kind: healthHandlerCalled},
}, {
	Code:    regexp.MustCompile(`\bextends\s+(?P<at>(?:[\w.]+\.)?AbstractHealthRouter)\b`),
	Finding: analyzer.Finding{Kind: healthHandlerCalled},
}}

var serverRules = []analyzer.Rule{{
	Code: regexp.MustCompile(
		`\b(?P<at>(?:Netty|OkHttp|Xds|Alts)?ServerBuilder\s*(?:\.|::)\s*(?:forPort|forAddress))\b`),
	Imports: imported(`io\.grpc(?:\.netty(?:\.shaded\.io\.grpc\.netty)?|\.okhttp|\.xds|\.alts)?`,
		`(?:Netty|OkHttp|Xds|Alts)?ServerBuilder`),
	Finding: serverOf(grpcJava),
}, {
	Code:    regexp.MustCompile(`\b(?:Grpc\s*\.\s*)?newServerBuilderForPort\s*\(`),
	Imports: regexp.MustCompile(`^io\.grpc\.(Grpc\b|[*_]$|\{)`),
	Finding: serverOf(grpcJava),
}, {
	Code:    regexp.MustCompile(`\bServletServerBuilder\s*\(|\bGrpcServlet\s*\(|\bextends\s+GrpcServlet\b`),
	Imports: imported(`io\.grpc\.servlet(?:\.jakarta)?`, `GrpcServlet|ServletServerBuilder`),
	Finding: serverOf(grpcServlet),
}, {
	Code:    regexp.MustCompile(`\bGrpc(?:Io)?Server\s*\.\s*server\s*\(`),
	Imports: imported(`io\.vertx\.(?:\w+\.)?grpc(?:io)?\.server`, `Grpc(?:Io)?Server`),
	Finding: serverOf(vertx),
}, {
	Code:    regexp.MustCompile(`\bVertxServerBuilder\s*\.\s*(?:forPort|forAddress)\s*\(`),
	Imports: imported(`io\.vertx\.grpc`, `VertxServerBuilder`),
	Finding: serverOf(vertx),
}, {
	Code:    regexp.MustCompile(`\bGrpcService\s*\.\s*builder\s*\(`),
	Imports: imported(armeriaServer, `GrpcService`),
	Finding: serverOf(armeria),
}, {
	Code:    regexp.MustCompile(`\bGrpcServers\s*\.\s*(?:forPort|forAddress)\s*\(`),
	Imports: imported(`io\.servicetalk\.grpc\.netty`, `GrpcServers`),
	Finding: serverOf(serviceTalk),
}, {
	Code:    regexp.MustCompile(`\bGrpcRouting\s*\.\s*builder\s*\(`),
	Imports: imported(`io\.helidon\.webserver\.grpc`, `GrpcRouting`),
	Finding: serverOf(helidon),
}, {
	Code:    regexp.MustCompile(`\bGrpcServer\s*\.\s*(?:create|builder)\s*\(`),
	Imports: imported(`io\.helidon\.grpc\.server`, `GrpcServer`),
	Finding: withHealth(serverOf(helidon)),
}, {
	Code:    regexp.MustCompile(`\bextends\s+(?:ServerMain|\w+\.ServerMain)\b|\bServerLayer\s*\.\s*from\w+`),
	Imports: regexp.MustCompile(`^scalapb\.zio_grpc\b`),
	Finding: serverOf(zioGRPC),
}, {
	Code:    regexp.MustCompile(`\bProtocolConfig\s*\(\s*(?:CommonConstants\s*\.\s*)?TRIPLE\b`),
	Imports: imported(`org\.apache\.dubbo\.config`, `ProtocolConfig`),
	Finding: serverOf(dubbo),
}, {
	Code:    regexp.MustCompile(`\bProtocolConfig\s*\(\s*"(?P<literal>[ ]*)"`),
	Literal: source.Exactly(`tri`),
	Imports: imported(`org\.apache\.dubbo\.config`, `ProtocolConfig`),
	Finding: serverOf(dubbo),
}}

var annotationRules = []analyzer.Rule{{
	Code:    annotation(`GrpcService`),
	Imports: imported(`org\.springframework\.grpc\.server\.service`, `GrpcService`),
	Finding: withHealth(servedBy(springGRPC)),
}, {
	Code: annotation(`GrpcService`),
	Imports: imported(`net\.devh\.(?:boot\.grpc\.server\.service|springboot\.autoconfigure\.grpc\.server)`,
		`GrpcService`),
	Finding: withHealth(servedBy(netDevh)),
}, {
	Code:    annotation(`GRpcService`),
	Imports: imported(`org\.lognet\.springboot\.grpc`, `GRpcService`),
	Finding: withHealth(servedBy(logNet)),
}, {
	Code:    annotation(`GrpcService`),
	Imports: imported(`io\.quarkus\.grpc`, `GrpcService`),
	Finding: withHealth(servedBy(quarkus)),
}, {
	// Helidon MP 4 has Grpc.GrpcService, and Helidon MP 1 to 3 have Grpc. The server of Helidon 4 registers no health
	// service.
	Code:    classAnnotation(`Grpc.GrpcService`),
	Imports: imported(`io\.helidon\.grpc\.api`, `Grpc`),
	Finding: servedBy(helidon),
}, {
	Code:    classAnnotation(`Grpc`),
	Imports: imported(`io\.helidon\.microprofile\.grpc\.core`, `Grpc`),
	Finding: withHealth(servedBy(helidon)),
}, {
	Code:    annotation(`DubboService`),
	Imports: imported(`org\.apache\.dubbo\.config\.annotation`, `DubboService`),
	Finding: dubboExported,
}}

// generatedImport is an import that a class XImplBase, without the class that it lies in, may come from.
var generatedImport = regexp.MustCompile(`(Grpc(Kt)?|Triple)\.(\w*ImplBase\b|[*_{])`)

// networkServer is an import of those who have to do with a server of grpc-java that listens on the network.
var networkServer = regexp.MustCompile(`^io\.grpc\.(?:\w*ServerBuilder|Server\b|ServerServiceDefinition|` +
	`ServerInterceptors|BindableService|[*_]$|\{|netty\b|okhttp\b)`)

var serviceRules = []analyzer.Rule{{
	Code: regexp.MustCompile(
		`\b(?:extends|new|with)\s+(?P<at>(?:[\w.]+\.)?\w+Grpc(?:Kt)?\s*\.\s*\w+ImplBase)\b`),
	Finding: implementationOf(grpcJava),
}, {
	Code:    regexp.MustCompile(`[:,]\s*(?P<at>(?:[\w.]+\.)?\w+Grpc(?:Kt)?\s*\.\s*\w+ImplBase)\s*\(`),
	Finding: implementationOf(grpcJava),
}, {
	Code:    regexp.MustCompile(`\b(?:extends|new|with)\s+(?P<at>\w+ImplBase)\b`),
	Imports: generatedImport,
	Finding: implementationOf(grpcJava),
}, {
	Code:    regexp.MustCompile(`[:,]\s*(?P<at>\w+ImplBase)\s*\(`),
	Imports: generatedImport,
	Finding: implementationOf(grpcJava),
}, {
	Code:    regexp.MustCompile(`\b\w+Fs2Grpc(?:Trailers)?\s*\.\s*bindService\w*\b`),
	Finding: serviceOf(fs2GRPC),
}, {
	Code:    regexp.MustCompile(`\b\w+Grpc\s*\.\s*bindService\s*\(`),
	Finding: serviceOf(grpcJava),
}, {
	// A service that the app makes is given to a server that is made elsewhere. A server that takes the services of
	// others is a library: their names are variables there.
	Code: regexp.MustCompile(`\.\s*addService\s*\(\s*(?:ServerInterceptors\s*\.\s*\w+\s*\(\s*)?` +
		`(?:new\s+[A-Z]|[A-Z]\w*\s*\()`),
	Imports: networkServer,
	Finding: serviceOf(grpcJava),
}, {
	Code:    regexp.MustCompile(`\bextends\s+(?P<at>(?:[\w.]+\.)?Abstract\w+Router)\b`),
	Imports: regexp.MustCompile(`\bgrpc\b.*\bAbstract\w+Router\b|^(akka|org\.apache\.pekko)\.(actor|stream)\b`),
	Finding: analyzer.Finding{Kind: handlerCalled, Framework: playGRPC},
}, {
	Code:    serviceHandler,
	Imports: imported(`org\.apache\.pekko\.grpc\.(?:scaladsl|javadsl)`, `ServiceHandler`),
	Finding: serverOf(pekkoGRPC),
}, {
	Code:    serviceHandler,
	Imports: imported(`akka\.grpc\.(?:scaladsl|javadsl)`, `ServiceHandler`),
	Finding: serverOf(akkaGRPC),
}, {
	Code:    generatedHandler,
	Imports: regexp.MustCompile(`^org\.apache\.pekko\.http\b`),
	Finding: analyzer.Finding{Kind: handlerCalled, Framework: pekkoGRPC},
}, {
	Code:    generatedHandler,
	Imports: regexp.MustCompile(`^akka\.http\b`),
	Finding: analyzer.Finding{Kind: handlerCalled, Framework: akkaGRPC},
}}

// What Akka gRPC and Pekko gRPC, which began as a copy of it, make a server with.
var (
	serviceHandler   = regexp.MustCompile(`\bServiceHandler\s*\.\s*(?:concatOrNotFound|handler|concat)\b`)
	generatedHandler = regexp.MustCompile(`(?m)(?:^|[\s(=,{])(?P<at>[A-Z]\w*Handler` +
		`(?:\s*\.\s*(?:partial|withServerReflection)|Factory\s*\.\s*(?:create\w*|partial))?)\s*\(`)
)

func annotation(name string) *regexp.Regexp {
	return regexp.MustCompile(`@(?:[\w.]+\.)?` + strings.ReplaceAll(name, ".", `\.`) + `\b`)
}

// classAnnotation matches an annotation of a class, with or without others behind it. On an interface the same
// annotation makes a client.
func classAnnotation(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?P<at>` + annotation(name).String() + `)(?:\s*\([^)]*\))?` +
		`(?:\s*@[\w.]+(?:\s*\([^)]*\))?)*\s+(?:(?:public|final|abstract|open|internal)\s+)*class\b`)
}
