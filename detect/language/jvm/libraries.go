package jvm

import (
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// callRule is a rule for the calls of methods of classes, each separated by spaces. The method <init> is a constructor.
type callRule struct {
	classes, methods string
	proves           finding.Make
}

// libraryCalls hold for sources and for class files.
var libraryCalls = []callRule{
	{
		"io/grpc/ServerBuilder io/grpc/netty/NettyServerBuilder " +
			"io/grpc/netty/shaded/io/grpc/netty/NettyServerBuilder " +
			"io/grpc/okhttp/OkHttpServerBuilder io/grpc/xds/XdsServerBuilder io/grpc/alts/AltsServerBuilder",
		"forPort forAddress", finding.Constructs(grpcJava),
	},
	{"com/salesforce/grpc/contrib/spring/GrpcServerHost", "<init>", finding.Constructs(grpcJava)},
	{
		"io/grpc/servlet/ServletServerBuilder io/grpc/servlet/GrpcServlet " +
			"io/grpc/servlet/jakarta/ServletServerBuilder io/grpc/servlet/jakarta/GrpcServlet",
		"<init>", finding.Constructs(grpcServlet),
	},
	{"io/vertx/grpc/server/GrpcServer io/vertx/grpcio/server/GrpcIoServer", "server", finding.Constructs(vertx)},
	{"higherkindness/mu/rpc/server/GrpcServer$", "default defaultServer netty", finding.Constructs(muScala)},
	{
		"scalapb/zio_grpc/ServerLayer$",
		"fromService fromServices fromServiceList fromServiceLayer fromEnvironment", finding.Constructs(zioGRPC),
	},
	{"io/vertx/grpc/VertxServerBuilder", "forPort forAddress", finding.Constructs(vertx)},
	{"com/linecorp/armeria/server/grpc/GrpcService", "builder", finding.Constructs(armeria)},
	// Until Armeria 0.97 the builder was made by a constructor. The abstract classes are for methods of services
	// without generated code (grpc-protocol/.../AbstractUnsafeUnaryGrpcService.java).
	{
		"com/linecorp/armeria/server/grpc/GrpcServiceBuilder " +
			"com/linecorp/armeria/server/grpc/protocol/AbstractUnaryGrpcService " +
			"com/linecorp/armeria/server/grpc/protocol/AbstractUnsafeUnaryGrpcService",
		"<init>", finding.Constructs(armeria),
	},
	{"io/servicetalk/grpc/netty/GrpcServers", "forPort forAddress", finding.Constructs(serviceTalk)},
	{"io/helidon/webserver/grpc/GrpcRouting", "builder", finding.Constructs(helidon)},
	{"io/helidon/grpc/server/GrpcServer", "create builder", finding.WithHealth(finding.Constructs(helidon))},
	{
		"org/apache/pekko/grpc/scaladsl/ServiceHandler$ org/apache/pekko/grpc/javadsl/ServiceHandler",
		"concatOrNotFound handler concat", finding.Constructs(pekkoGRPC),
	},
	{
		"akka/grpc/scaladsl/ServiceHandler$ akka/grpc/javadsl/ServiceHandler",
		"concatOrNotFound handler concat", finding.Constructs(akkaGRPC),
	},
	{"com/linecorp/armeria/server/grpc/GrpcHealthCheckService", "builder of", finding.RegistersHealth},
	{"io/servicetalk/grpc/health/DefaultHealthService", "<init>", finding.RegistersHealth},
	{"io/vertx/grpc/health/HealthService", "create", finding.RegistersEmptyHealth},
	{"higherkindness/mu/rpc/healthcheck/HealthService$", "build", finding.RegistersHealth},
}

// annotations make a class a service of a framework, in sources and in class files. isOfClass means that the same
// annotation makes an interface a client.
var annotations = []struct {
	class     string
	proves    finding.Make
	isOfClass bool
}{
	{"org/springframework/grpc/server/service/GrpcService", finding.WithHealth(finding.Serves(springGRPC)), false},
	{"net/devh/boot/grpc/server/service/GrpcService", finding.WithHealth(finding.Serves(netDevh)), false},
	{"net/devh/springboot/autoconfigure/grpc/server/GrpcService", finding.WithHealth(finding.Serves(netDevh)), false},
	{"org/lognet/springboot/grpc/GRpcService", finding.WithHealth(finding.Serves(logNet)), false},
	{"grpcstarter/server/GrpcService", finding.WithHealth(finding.Serves(grpcStarter)), false},
	{"io/quarkus/grpc/GrpcService", finding.WithHealth(finding.Serves(quarkus)), false},
	// Helidon MP 4 has Grpc.GrpcService, without a health service. Helidon MP 1 to 3 have Grpc.
	{"io/helidon/grpc/api/Grpc$GrpcService", finding.Serves(helidon), true},
	{"io/helidon/microprofile/grpc/core/Grpc", finding.WithHealth(finding.Serves(helidon)), true},
	{"misk/web/Grpc", finding.Serves(misk), false},
	{"org/apache/dubbo/config/annotation/DubboService", onlyWith(triple, finding.Serves(dubbo)), false},
}

// libraryRules returns the rules for libraryCalls and annotations in sources.
func libraryRules() []analyzer.Rule {
	var rules []analyzer.Rule
	for _, r := range libraryCalls {
		var packages, names []string
		for class := range strings.FieldsSeq(r.classes) {
			dir, name := path.Split(strings.TrimSuffix(class, "$"))
			packages, names = append(packages, packagePattern(dir)), append(names, name)
		}
		of := `(?:` + strings.Join(names, "|") + `)`
		code := `\b` + of + `\s*(?:\.|::)\s*(?:` + strings.ReplaceAll(r.methods, " ", "|") + `)\b`
		if r.methods == "<init>" {
			code = `\bextends\s+` + of + `\b|\b` + of + `\s*\(`
		}
		rules = append(rules, analyzer.Rule{
			Code: lazyregexp.New(code), Imports: imported(strings.Join(packages, "|"), of), Proves: r.proves,
		})
	}
	for _, a := range annotations {
		dir, name := path.Split(a.class)
		code := annotation(strings.ReplaceAll(name, "$", "."))
		if a.isOfClass {
			code = classAnnotation(code)
		}
		first, _, _ := strings.Cut(name, "$")
		rules = append(rules, analyzer.Rule{
			Code: code, Imports: imported(packagePattern(dir), first), Proves: a.proves,
		})
	}
	return rules
}

// packagePattern matches the package of a directory, also with parts inserted, as by Vert.x for RxJava:
// io.vertx.grpc.server, io.vertx.rxjava3.grpc.server.
func packagePattern(dir string) string {
	parts := strings.Split(strings.Trim(dir, "/"), "/")
	return strings.Join(parts[:2], `\.`) + strings.Join(append([]string{""}, parts[2:]...), `\.(?:\w+\.)?`)
}

func annotation(name string) *lazyregexp.Regexp {
	return lazyregexp.New(`@(?:[\w.]+\.)?` + strings.ReplaceAll(name, ".", `\.`) + `\b`)
}

// classAnnotation matches an annotation of a class. More annotations may follow.
func classAnnotation(annotation *lazyregexp.Regexp) *lazyregexp.Regexp {
	return lazyregexp.New(`(?P<at>` + annotation.String() + `)(?:\s*\([^)]*\))?` +
		`(?:\s*@[\w.]+(?:\s*\([^)]*\))?)*\s+(?:(?:public|final|abstract|open|internal)\s+)*class\b`)
}
