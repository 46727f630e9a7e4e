package jvm

import (
	"github.com/grpc-cnb/health-probe/detect/language/jvm/buildfile"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Which frameworks register grpc.health.v1 by themselves, since when and with which library. Behind each answer is its
// source, in the framework's own repository.
//
//   - Spring gRPC: since 0.1, with io.grpc:grpc-services, which its starters have as an optional dependency up to 0.12
//     and bring from 1.0.0-RC1 on. Source: GrpcServerHealthAutoConfiguration (ConditionalOnClass HealthStatusManager)
//     and spring-grpc-server-spring-boot-starter/pom.xml at v0.12.0 and v1.0.0-RC1.
//   - Spring Boot, from 4.1 on: spring-boot-starter-grpc-server brings grpc-services, the module
//     spring-boot-grpc-server does not. Source: starter/spring-boot-starter-grpc-server/build.gradle and
//     module/spring-boot-grpc-server/build.gradle.
//   - net.devh: since 1.4, with io.grpc:grpc-services, which it brings. Source: GrpcHealthServiceAutoConfiguration
//     (ConditionalOnClass HealthStatusManager) and grpc-server-spring-boot-starter/build.gradle at v3.1.0.RELEASE; at
//     v1.4.0.RELEASE the first use of HealthStatusManager.
//   - LogNet: since 2.1, with io.grpc:grpc-services, which it brings and does not start without. Source:
//     GRpcAutoConfiguration (Import DefaultHealthStatusService); at v2.1.0 the first use of HealthStatusManager.
//   - grpc-starter (io.github.danielliu1123): always, with io.grpc:grpc-services, which it brings. Source: Health.java
//     (matchIfMissing) and grpc-server-boot-autoconfigure/build.gradle.
//   - Quarkus: always; its stubs of the service are its own. Source: GrpcServerProcessor and GrpcHealthEndpoint.
//   - Micronaut: since micronaut-grpc 3.3, which came with Micronaut 3.5, with io.grpc:grpc-services, which it never
//     brings. Source: GrpcHealthFactory (Requires HealthStatusManager) and grpc-health/build.gradle (compileOnly).
//   - Helidon SE and MP: in versions 1 to 3, whose classes have other names than those of 4, and not from 4 on. Source:
//     GrpcServerImpl (addService(healthService)) at 2.x; webserver/grpc at 4.x, which has reflection alone.
//   - Dubbo: if dubbo.tri.builtin.service.init asks for it. Source: TriBuiltinService.enable.
//   - None of grpc-java, grpc-kotlin, grpc-servlet, ScalaPB, fs2-grpc, ZIO gRPC (ServerMain adds reflection alone),
//     Mu-Scala (GrpcServer.scala), Vert.x, Armeria (enableHealthCheckService is false by default), ServiceTalk, Play,
//     Akka and Pekko gRPC.

var (
	// bootStarter is the starter of Spring Boot, which brings grpc-services since it exists.
	bootStarter = artifactNamed(`spring-boot-starter-grpc-server`)
	// springGRPCVersion are the artifacts of Spring gRPC, whose versions are all the same, and springBootVersion those
	// of Spring Boot. Spring gRPC works with Spring Boot 4 from 1.0 on.
	springGRPCVersion = lazyregexp.New(`^org\.springframework\.grpc:`)
	springBootVersion = lazyregexp.New(
		`^org\.springframework\.boot(?::spring-boot-(?:starter-parent|dependencies|gradle-plugin))?$`)

	netDevhVersion = lazyregexp.New(`^net\.devh:|^grpc-server-spring-boot-`)
	logNetVersion  = lazyregexp.New(
		`(?:lognet:|^)grpc-spring-boot-starter$|^io\.github\.lognet\.grpc-spring-boot$`)

	micronautGRPCVersion = lazyregexp.New(`^io\.micronaut\.grpc:|^micronaut-grpc-(?:server-)?runtime$`)
	micronautVersion     = lazyregexp.New(
		`^io\.micronaut(?:\.platform)?:micronaut-(?:bom|parent|platform)$`)
)

// registersHealth reports whether a framework registers grpc.health.v1 in this build. byItself is what a finding says
// of it.
func (b *build) registersHealth(framework string, byItself bool) bool {
	switch framework {
	case springGRPC:
		return b.springRegistersHealth()
	case netDevh:
		isOld, _ := b.isOlder(netDevhVersion, 1, 4)
		return !isOld && (b.has(grpcServices) || !b.hasLibraries && !b.leavesOut(grpcServices))
	case logNet:
		isOld, _ := b.isOlder(logNetVersion, 2, 1)
		return !isOld
	case micronaut:
		return b.has(grpcServices) && !b.isOldMicronaut()
	case quarkus, grpcStarter:
		return true
	case dubbo:
		return b.settings.have("dubbo.", "tri.builtin.service.init=true")
	}
	return byItself
}

// springRegistersHealth reports whether grpc-services is there: the app asks for it itself, or a starter brings it. A
// built app has all its libraries beside it.
func (b *build) springRegistersHealth() bool {
	if b.has(grpcServices) {
		return true
	}
	if b.hasLibraries || b.leavesOut(grpcServices) {
		return false
	}
	if b.has(bootStarter) {
		return true
	}
	if isOld, ok := b.isOlder(springGRPCVersion, 1, 0); ok {
		return !isOld
	}
	isOld, ok := b.isOlder(springBootVersion, 4, 0)
	return ok && !isOld
}

// isOldMicronaut reports whether the server is one of Micronaut that has no health service yet.
func (b *build) isOldMicronaut() bool {
	if isOld, ok := b.isOlder(micronautGRPCVersion, 3, 3); ok {
		return isOld
	}
	if isOld, ok := b.isOlder(micronautVersion, 3, 5); ok {
		return isOld
	}
	order, ok := buildfile.Compare(b.property("micronautVersion"), 3, 5)
	return ok && order < 0
}
