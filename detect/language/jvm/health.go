package jvm

import (
	"maps"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/language/jvm/buildfile"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Frameworks that register grpc.health.v1 automatically, with the first version, the required library and the source in
// the framework's repository.
//
//   - Spring gRPC: since 0.1, with io.grpc:grpc-services. The library is an optional dependency of the starters up to
//     0.12, and a required dependency from 1.0.0-RC1 on. Source: GrpcServerHealthAutoConfiguration (ConditionalOnClass
//     HealthStatusManager) and spring-grpc-server-spring-boot-starter/pom.xml at v0.12.0 and v1.0.0-RC1.
//   - Spring Boot, from 4.1 on: spring-boot-starter-grpc-server brings grpc-services, the module
//     spring-boot-grpc-server does not. Source: starter/spring-boot-starter-grpc-server/build.gradle and
//     module/spring-boot-grpc-server/build.gradle.
//   - net.devh: since 1.4, with io.grpc:grpc-services, a dependency. Source: GrpcHealthServiceAutoConfiguration
//     (ConditionalOnClass HealthStatusManager) and grpc-server-spring-boot-starter/build.gradle at v3.1.0.RELEASE; at
//     v1.4.0.RELEASE the first use of HealthStatusManager.
//   - LogNet: since 2.1, with io.grpc:grpc-services, a dependency without which LogNet does not start. Source:
//     GRpcAutoConfiguration (Import DefaultHealthStatusService); at v2.1.0 the first use of HealthStatusManager.
//   - grpc-starter (io.github.danielliu1123): always, with io.grpc:grpc-services, a dependency. Source: Health.java
//     (matchIfMissing) and grpc-server-boot-autoconfigure/build.gradle.
//   - Quarkus: always, with its own stubs of the service. Source: GrpcServerProcessor and GrpcHealthEndpoint.
//   - Micronaut: since micronaut-grpc 3.3, part of Micronaut 3.5, with io.grpc:grpc-services, always left to the app.
//     Source: GrpcHealthFactory (Requires HealthStatusManager) and grpc-health/build.gradle (compileOnly).
//   - Helidon SE and MP: in versions 1 to 3, with other class names than 4, and not from 4 on. Source: GrpcServerImpl
//     (addService(healthService)) at 2.x; webserver/grpc at 4.x, with reflection alone.
//   - Dubbo: on request of dubbo.tri.builtin.service.init. Source: TriBuiltinService.enable.
//   - None of grpc-java, grpc-kotlin, grpc-servlet, ScalaPB, fs2-grpc, ZIO gRPC (ServerMain adds reflection alone),
//     Mu-Scala (GrpcServer.scala), Vert.x, Armeria (enableHealthCheckService is false by default), ServiceTalk, Play,
//     Akka and Pekko gRPC.

// bootStarter is the starter of Spring Boot, and has always brought grpc-services.
var bootStarter = artifactNamed(`spring-boot-starter-grpc-server`)

// firstVersions are the first versions with which a framework registers grpc.health.v1, or brings grpc-services, by
// artifact or by property of the build. The artifacts of Spring gRPC share a version. Spring gRPC works with Spring
// Boot 4 from 1.0 on.
var firstVersions = []struct {
	framework    string
	artifact     *lazyregexp.Regexp
	major, minor int
}{
	{springGRPC, lazyregexp.New(`^org\.springframework\.grpc:|(?i:^spring-?grpc(?:[.-]?version)?$)`), 1, 0},
	{springGRPC, lazyregexp.New(`^org\.springframework\.boot(?::spring-boot-(?:starter-parent|dependencies|` +
		`gradle-plugin))?$|(?i:^spring-?boot(?:[.-]?version)?$)`), 4, 0},
	{netDevh, lazyregexp.New(`^net\.devh:|^grpc-server-spring-boot-`), 1, 4},
	{logNet, lazyregexp.New(`(?:lognet:|^)grpc-spring-boot-starter$|^io\.github\.lognet\.grpc-spring-boot$`), 2, 1},
	{micronaut, lazyregexp.New(`^io\.micronaut\.grpc:|^micronaut-grpc-(?:server-)?runtime$`), 3, 3},
	{micronaut, lazyregexp.New(`^io\.micronaut(?:\.platform)?:micronaut-(?:bom|parent|platform)$|` +
		`(?i:^micronaut(?:[.-]?version)?$)`), 3, 5},
}

// isOld reports whether the version of a framework is older than in firstVersions. isKnown is false without a version.
func (b *build) isOld(framework string) (isOld, isKnown bool) {
	for _, first := range firstVersions {
		if first.framework != framework {
			continue
		}
		for _, f := range b.states() {
			for _, name := range slices.Sorted(maps.Keys(f.Versions)) {
				isOld, isKnown = buildfile.IsOlder(f.Versions[name], first.major, first.minor)
				if isKnown && first.artifact.MatchString(name) {
					return isOld, true
				}
			}
		}
	}
	return false, false
}

// registersHealth reports whether a framework registers grpc.health.v1 in the build. byItself is the answer of the
// finding. A built app has all libraries at hand.
func (b *build) registersHealth(framework string, byItself bool) bool {
	isOld, isKnown := b.isOld(framework)
	hasServices := b.has(grpcServices)
	mayBring := func() bool { return !b.hasLibraries && !b.leavesOut(grpcServices) }
	switch framework {
	case springGRPC:
		return hasServices || mayBring() && (b.has(bootStarter) || isKnown && !isOld)
	case netDevh:
		return !isOld && (hasServices || mayBring())
	case logNet:
		return !isOld
	case micronaut:
		return !isOld && hasServices
	case quarkus, grpcStarter:
		return true
	case dubbo:
		return b.settings.have("dubbo.", "tri.builtin.service.init=true")
	}
	return byItself
}
