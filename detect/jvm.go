package detect

import "path"

func init() {
	register(language{
		name:       "java",
		title:      "Java",
		also:       map[string]string{"kotlin": "Kotlin", "scala": "Scala"},
		frameworks: jvmFrameworks,
		wants:      jvmWants,
		look:       jvmLook,
		conclude:   jvmConclude,
	})
}

// jvmSays is what a file says beside its signs.
type jvmSays struct {
	artifacts []string            // what it is built with, as group:artifact; of a jar or a plug-in, its name
	aliases   []string            // names in the version catalogue that it is built with
	catalogue map[string][]string // such names, and the artifacts they stand for
	name      string              // the project's own, in Maven
	needs     []string            // the names of other projects that it is built with
	handsDown bool                // all projects below are built with the same
	settings  jvmSettings
	profiles  jvmSettings // those for one profile
	language  string      // of a class or a jar: "kotlin"
}

// jvmWants takes sources, build files, settings, classes and jars that may be the app's own.
func jvmWants(p string) bool {
	name := path.Base(p)
	switch path.Ext(name) {
	case ".java", ".kt", ".scala":
		return !jvmTestName.MatchString(name) && !jvmNotOwn(p)
	case ".gradle", ".kts", ".sbt", ".toml":
		return jvmBuildFile(p) && !jvmNotOwn(p)
	case ".xml":
		return (name == "pom.xml" || jvmSpringXML.MatchString(p)) && !jvmNotOwn(p)
	case ".properties", ".yml", ".yaml":
		return jvmSettingsFile(p) && !jvmNotOwn(p)
	case ".class":
		return !jvmLibraryClass(jvmClassName(p)) && !jvmNotOwn(p)
	case ".jar", ".war":
		return !jvmNotOwn(p)
	}
	return false
}

func jvmLook(f *file) (*sheet, error) {
	switch ext := path.Ext(f.path); ext {
	case ".jar", ".war":
		return jvmJar(f)
	default:
		text, err := f.text()
		if err != nil {
			return nil, err
		}
		return jvmText(f.path, text)
	}
}

// jvmText reads any file but an archive.
func jvmText(p string, text []byte) (*sheet, error) {
	switch ext := path.Ext(p); {
	case ext == ".class":
		return jvmClassSheet(text), nil
	case path.Base(p) == "pom.xml":
		return jvmPOM(text)
	case ext == ".xml":
		return jvmDubboXML(text), nil
	case ext == ".toml":
		return jvmCatalogue(text)
	case ext == ".properties":
		return &sheet{own: jvmProperties(text)}, nil
	case ext == ".yml" || ext == ".yaml":
		says, err := jvmYAML(text)
		return &sheet{own: says}, err
	case jvmBuildFile(p):
		return jvmScript(p, text), nil
	default:
		return jvmSource(ext, text), nil
	}
}

// The frameworks. Health is as their sources have it: GrpcServerHealthAutoConfiguration in spring-grpc and Spring Boot,
// GrpcHealthServiceAutoConfiguration in grpc-spring (net.devh), DefaultHealthStatusService in LogNet's starter,
// GrpcServerProcessor in Quarkus, GrpcServerBuilder and GrpcHealthFactory in micronaut-grpc, GrpcServerImpl in Helidon 1
// to 3, TriBuiltinService in Dubbo.
var jvmFrameworks = []framework{
	{"grpc-java", "`forPort` and `forAddress` of `ServerBuilder`, `NettyServerBuilder` and their kin, " +
		"`Grpc.newServerBuilderForPort`; a subclass of a generated `XImplBase`; in a class file, the same",
		jvmByHand, jvmRegistration},
	{"grpc-kotlin", "the same in Kotlin; a subclass of a generated `XCoroutineImplBase`", jvmByHand,
		".addService(HealthStatusManager().healthService), on the server's builder, with io.grpc:grpc-services"},
	{"ScalaPB", "the same in Scala; a generated `XGrpc.bindService`", jvmByHand, jvmRegistration},
	{"ZIO gRPC", "`ServerMain`, `ServerLayer`", jvmByHand,
		"ServerBuilder.forPort(port).addService(new HealthStatusManager().getHealthService), handed to ServerLayer, with io.grpc:grpc-services"},
	{"fs2-grpc", "a generated `XFs2Grpc.bindService` or `.bindServiceResource`", jvmByHand, jvmRegistration},
	{"grpc-servlet", "`GrpcServlet`, `ServletServerBuilder`", jvmByHand,
		"new GrpcServlet(List.of(service, new HealthStatusManager().getHealthService())), with io.grpc:grpc-services"},
	{"Spring gRPC", "Spring's `@GrpcService`; an `XImplBase` in a build with its server starter",
		"the framework, without `spring.grpc.server.health.enabled=false`",
		"leave out spring.grpc.server.health.enabled=false, and Spring gRPC registers it with io.grpc:grpc-services"},
	{"net.devh", "its `@GrpcService`", "the framework, without `grpc.server.health-service-enabled=false`",
		"leave out grpc.server.health-service-enabled=false, and the starter registers it with io.grpc:grpc-services"},
	{"LogNet", "`@GRpcService`", "the framework",
		"@GRpcService public class Health extends HealthGrpc.HealthImplBase, from io.grpc:grpc-services"},
	{"Quarkus", "its `@GrpcService`", "the framework, without `quarkus.grpc.server.grpc-health.enabled=false`",
		"leave out quarkus.grpc.server.grpc-health.enabled=false, and Quarkus registers it"},
	{"Micronaut", "an `XImplBase` in a build with `micronaut-grpc-runtime` or `micronaut-grpc-server-runtime`",
		"the framework, in a build with `io.grpc:grpc-services`, without `grpc.server.health.enabled=false`",
		`implementation("io.grpc:grpc-services"), and Micronaut registers it`},
	{"Helidon", "`GrpcRouting.builder`, `GrpcServer.create` and `.builder`, `@Grpc.GrpcService`, `@Grpc`",
		"Helidon 1 to 3; from 4 on the app, by `HealthStatusManager`",
		".service(new HealthStatusManager().getHealthService().bindService()), on GrpcRouting.builder(), with io.grpc:grpc-services"},
	{"Vert.x", "`GrpcServer.server`, `GrpcIoServer.server`, `VertxServerBuilder`", "the app, by `HealthService` or `HealthStatusManager`",
		"GrpcIoServiceBridge.bridge(new HealthStatusManager().getHealthService()).bind(server), with io.vertx:vertx-grpcio-server and io.grpc:grpc-services"},
	{"Armeria", "`GrpcService.builder`", "the app, by `enableHealthCheckService(true)` or `GrpcHealthCheckService`",
		".enableHealthCheckService(true), on GrpcService.builder()"},
	{"ServiceTalk", "`GrpcServers.forPort` and `.forAddress`", "the app, by `DefaultHealthService`",
		"new DefaultHealthService(), from servicetalk-grpc-health, among the services of listenAndAwait"},
	{"Dubbo", "`@DubboService` beside the setting `dubbo.protocol.name=tri`; `new ProtocolConfig` of Triple",
		"the setting `dubbo.tri.builtin.service.init=true`", "dubbo.tri.builtin.service.init=true, among the system properties or in dubbo.properties"},
	{"Play gRPC", "a subclass of a generated `AbstractXRouter`", jvmByHand,
		"a router of the standard health.proto: class HealthRouter extends AbstractHealthRouter"},
	{"Pekko gRPC", "a generated `XHandler` that is called, `ServiceHandler.concatOrNotFound`, in a build with pekko-grpc or akka-grpc",
		"the app, by a generated `HealthHandler`",
		"HealthHandler.partial(new HealthImpl), of the standard health.proto, in ServiceHandler.concatOrNotFound"},
}

const (
	jvmByHand       = "the app, by `HealthStatusManager`"
	jvmRegistration = ".addService(new HealthStatusManager().getHealthService()), on the server's builder, with io.grpc:grpc-services"
)
