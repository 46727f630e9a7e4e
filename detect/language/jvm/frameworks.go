package jvm

import "github.com/grpc-cnb/health-probe/detect/analyzer"

const (
	grpcJava    = "grpc-java"
	grpcKotlin  = "grpc-kotlin"
	scalaPB     = "ScalaPB"
	zioGRPC     = "ZIO gRPC"
	fs2GRPC     = "fs2-grpc"
	muScala     = "Mu-Scala"
	grpcServlet = "grpc-servlet"
	springGRPC  = "Spring gRPC"
	netDevh     = "net.devh"
	logNet      = "LogNet"
	grpcStarter = "grpc-starter"
	quarkus     = "Quarkus"
	micronaut   = "Micronaut"
	helidon     = "Helidon"
	vertx       = "Vert.x"
	armeria     = "Armeria"
	serviceTalk = "ServiceTalk"
	dubbo       = "Dubbo"
	playGRPC    = "Play gRPC"
	akkaGRPC    = "Akka gRPC"
	pekkoGRPC   = "Pekko gRPC"
	misk        = "Misk"
)

const (
	healthManager = "the app, by `HealthStatusManager`"
	addService    = ".addService(new HealthStatusManager().getHealthService()), on the server's builder, " +
		"with io.grpc:grpc-services"
)

// The sources of Health are in health.go.
var frameworks = []analyzer.Framework{{
	Name: grpcJava, SpeaksFirst: true,
	Keywords: []string{"grpc", "ImplBase"},
	Evidence: "`forPort` and `forAddress` of `ServerBuilder`, `NettyServerBuilder` and their kin, " +
		"`Grpc.newServerBuilderForPort`, Salesforce's `GrpcServerHost`; " +
		"`addService(new X())`, if nothing makes a server; in a class file, the same",
	Health: healthManager,
	Advice: addService,
}, {
	Name: grpcKotlin, SpeaksFirst: true,
	Keywords: []string{"grpc", "ImplBase"},
	Evidence: "the same in Kotlin",
	Health:   healthManager,
	Advice:   ".addService(HealthStatusManager().healthService), on the server's builder, with io.grpc:grpc-services",
}, {
	Name: scalaPB, SpeaksFirst: true,
	Keywords: []string{"grpc", "Grpc"},
	Evidence: "the same in Scala; a generated `XGrpc.bindService`",
	Health:   healthManager,
	Advice:   addService,
}, {
	Name: zioGRPC, SpeaksFirst: true,
	Keywords: []string{"grpc"},
	Port:     analyzer.DefaultPort{Number: 9000, Source: "ServerMain.scala"},
	Evidence: "`ServerMain`, `ServerLayer`",
	Health:   healthManager,
	Advice: "ServerBuilder.forPort(port).addService(new HealthStatusManager().getHealthService), " +
		"handed to ServerLayer, with io.grpc:grpc-services",
}, {
	Name: fs2GRPC, SpeaksFirst: true,
	Keywords: []string{"grpc", "Grpc"},
	Evidence: "a generated `XFs2Grpc.bindService` or `.bindServiceResource`",
	Health:   healthManager,
	Advice:   addService,
}, {
	Name: muScala, SpeaksFirst: true,
	Keywords: []string{"higherkindness"},
	Evidence: "`GrpcServer.default`, `.defaultServer` and `.netty`, `BuildServerFromConfig`",
	Health:   "the app, by `HealthService`",
	Advice: "AddService(health), with health from HealthService.build and Health.bindService, " +
		"with io.higherkindness:mu-rpc-health-check",
}, {
	Name:     grpcServlet,
	Keywords: []string{"grpc"},
	Evidence: "`GrpcServlet`, `ServletServerBuilder`",
	Health:   healthManager,
	Advice: "new GrpcServlet(List.of(service, new HealthStatusManager().getHealthService())), " +
		"with io.grpc:grpc-services",
}, {
	Name:     springGRPC,
	Keywords: []string{"grpc"},
	Port:     analyzer.DefaultPort{Number: 9090, Source: "GrpcUtils.java"},
	Evidence: "Spring's `@GrpcService`; an `XImplBase` in a build with its server starter",
	Health: "the framework, with `io.grpc:grpc-services`, which its starters bring from 1.0 on, " +
		"without `spring.grpc.server.health.enabled=false`",
	Advice: "io.grpc:grpc-services among the dependencies, without spring.grpc.server.health.enabled=false, " +
		"and Spring gRPC registers it",
	Settings: "`spring.grpc.server.port` in `application.properties` or `application.yml`",
}, {
	Name: netDevh, SpeaksFirst: true,
	Keywords: []string{"grpc", springBootApplication},
	Port:     analyzer.DefaultPort{Number: 9090, Source: "GrpcServerProperties.java"},
	Evidence: "its `@GrpcService`; `@SpringBootApplication` in a build with `grpc-server-spring-boot-starter` and " +
		"`grpc.server.port`, if nothing else serves",
	Health: "the framework, from 1.4 on, with `io.grpc:grpc-services`, which it brings, " +
		"without `grpc.server.health-service-enabled=false`",
	Advice: "net.devh:grpc-server-spring-boot-starter from 1.4 on, with io.grpc:grpc-services, " +
		"without grpc.server.health-service-enabled=false, and the starter registers it",
	Settings: "`grpc.server.port` in `application.properties` or `application.yml`",
}, {
	Name: logNet, SpeaksFirst: true,
	Keywords: []string{"grpc"},
	Port:     analyzer.DefaultPort{Number: 6565, Source: "GRpcServerProperties.java"},
	Evidence: "`@GRpcService`",
	Health:   "the framework, from 2.1 on",
	Advice:   "@GRpcService public class Health extends HealthGrpc.HealthImplBase, from io.grpc:grpc-services",
	Settings: "`grpc.port` in `application.properties` or `application.yml`",
}, {
	Name: grpcStarter, SpeaksFirst: true,
	Keywords: []string{"grpc"},
	Port:     analyzer.DefaultPort{Number: 9090, Source: "GrpcServerProperties.java"},
	Evidence: "its `@GrpcService`; an `XImplBase` in a build with `grpc-boot-starter` or `grpc-server-boot-starter`",
	Health:   "the framework, without `grpc.server.health.enabled=false`",
	Advice:   "leave out grpc.server.health.enabled=false, and grpc-starter registers it",
	Settings: "`grpc.server.port` in `application.properties` or `application.yml`",
}, {
	Name:     quarkus,
	Keywords: []string{"grpc"},
	Port:     analyzer.DefaultPort{Number: 9000, Source: "GrpcServerConfiguration.java"},
	Evidence: "its `@GrpcService`",
	Health:   "the framework, without `quarkus.grpc.server.grpc-health.enabled=false`",
	Advice:   "leave out quarkus.grpc.server.grpc-health.enabled=false, and Quarkus registers it",
	Settings: "`quarkus.grpc.server.port` in `application.properties` or `application.yml`",
}, {
	Name: micronaut, SpeaksFirst: true,
	Keywords: []string{"grpc"},
	Port:     analyzer.DefaultPort{Number: 50051, Source: "GrpcServerConfiguration.java"},
	Evidence: "an `XImplBase` in a build with `micronaut-grpc-runtime` or `micronaut-grpc-server-runtime`",
	Health: "the framework, from Micronaut 3.5 on, in a build with `io.grpc:grpc-services`, " +
		"without `grpc.server.health.enabled=false`",
	Advice:   `implementation("io.grpc:grpc-services"), and Micronaut registers it, from 3.5 on`,
	Settings: "`grpc.server.port` in `application.properties`, `.yml`, `.toml` or `.json`",
}, {
	Name:     helidon,
	Keywords: []string{"grpc"},
	Evidence: "`GrpcRouting.builder`, `GrpcServer.create` and `.builder`, `@Grpc.GrpcService`, `@Grpc`",
	Health:   "Helidon 1 to 3; from 4 on the app, by `HealthStatusManager`",
	Advice: ".service(new HealthStatusManager().getHealthService().bindService()), on GrpcRouting.builder(), " +
		"with io.grpc:grpc-services",
	Settings: "`server.port` in `application.yaml`, `grpc.port` in Helidon 1 to 3",
}, {
	Name:     vertx,
	Keywords: []string{"grpc"},
	Evidence: "`GrpcServer.server`, `GrpcIoServer.server`, `VertxServerBuilder`",
	Health:   "the app, by `HealthService` or `HealthStatusManager`",
	Advice: "GrpcIoServiceBridge.bridge(new HealthStatusManager().getHealthService()).bind(server), " +
		"with io.vertx:vertx-grpcio-server and io.grpc:grpc-services",
}, {
	Name:     armeria,
	Keywords: []string{"grpc"},
	Evidence: "`GrpcService.builder`, `new GrpcServiceBuilder`, a subclass of `AbstractUnaryGrpcService` or " +
		"`AbstractUnsafeUnaryGrpcService`",
	Health:   "the app, by `enableHealthCheckService(true)` or `GrpcHealthCheckService`",
	Advice:   ".enableHealthCheckService(true), on GrpcService.builder()",
	Settings: "`armeria.ports` in `application.yml`",
}, {
	Name:     serviceTalk,
	Keywords: []string{"grpc"},
	Evidence: "`GrpcServers.forPort` and `.forAddress`",
	Health:   "the app, by `DefaultHealthService`",
	Advice:   "new DefaultHealthService(), from servicetalk-grpc-health, among the services of listenAndAwait",
}, {
	Name:     dubbo,
	Keywords: []string{"dubbo"},
	Port:     analyzer.DefaultPort{Number: 50051, Source: "TripleProtocol.java"},
	Evidence: "`@DubboService` beside the setting `dubbo.protocol.name=tri`; `new ProtocolConfig` of Triple",
	Health:   "the setting `dubbo.tri.builtin.service.init=true`",
	Advice:   "dubbo.tri.builtin.service.init=true, among the system properties or in dubbo.properties",
	Settings: "`dubbo.protocol.port` in `application.yml`, `dubbo.properties` or Spring beans",
}, {
	Name:     playGRPC,
	Keywords: []string{"grpc", "Router"},
	Evidence: "a subclass of a generated `AbstractXRouter`",
	Health:   "the app, by a subclass of a generated `AbstractHealthRouter`",
	Advice: "a router of the standard health.proto, class HealthRouter extends AbstractHealthRouter, " +
		"with a line in conf/routes",
	Settings: "`play.server.https.port` or `play.server.http.port` in `application.conf`",
}, {
	Name:     akkaGRPC,
	Keywords: []string{"grpc", "Handler"},
	Evidence: "a generated `XHandler` that is called, `ServiceHandler.concatOrNotFound`, in a build with akka-grpc",
	Health:   "the app, by a generated `HealthHandler`",
	Advice: "HealthHandler.partial(new HealthImpl), of the standard health.proto, " +
		"in akka.grpc.scaladsl.ServiceHandler.concatOrNotFound",
}, {
	Name:     pekkoGRPC,
	Keywords: []string{"grpc", "Handler"},
	Evidence: "the same of Pekko, in a build with pekko-grpc",
	Health:   "the app, by a generated `HealthHandler`",
	Advice: "HealthHandler.partial(new HealthImpl), of the standard health.proto, " +
		"in org.apache.pekko.grpc.scaladsl.ServiceHandler.concatOrNotFound",
}, {
	Name:     misk,
	Keywords: []string{"misk"},
	Evidence: "`@Grpc` of `misk.web`; a web action that implements one of Wire's generated `XBlockingServer`",
	Health:   "the app, by an action of `/grpc.health.v1.Health/Check`",
	Advice: "class HealthAction @Inject constructor() : HealthCheckBlockingServer, WebAction, of what Wire generates " +
		"from grpc/health/v1/health.proto, with install(WebActionModule.create<HealthAction>())",
}}
