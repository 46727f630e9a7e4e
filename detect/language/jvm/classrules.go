package jvm

import (
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/language/jvm/classfile"
)

const zioServerMain = "scalapb/zio_grpc/ServerMain"

// callFindings are the methods of libraries that prove something if they are called, as class.method. They are the same
// as in rules.
var callFindings = callTable([]callRule{
	{
		"io/grpc/ServerBuilder io/grpc/netty/NettyServerBuilder " +
			"io/grpc/netty/shaded/io/grpc/netty/NettyServerBuilder " +
			"io/grpc/okhttp/OkHttpServerBuilder io/grpc/xds/XdsServerBuilder io/grpc/alts/AltsServerBuilder",
		"forPort forAddress", serverOf(grpcJava),
	},
	{"io/grpc/Grpc", "newServerBuilderForPort", serverOf(grpcJava)},
	{
		"io/grpc/servlet/ServletServerBuilder io/grpc/servlet/GrpcServlet " +
			"io/grpc/servlet/jakarta/ServletServerBuilder io/grpc/servlet/jakarta/GrpcServlet",
		"<init>", serverOf(grpcServlet),
	},
	{"io/vertx/grpc/server/GrpcServer io/vertx/grpcio/server/GrpcIoServer", "server", serverOf(vertx)},
	{"io/vertx/grpc/VertxServerBuilder", "forPort forAddress", serverOf(vertx)},
	{"com/linecorp/armeria/server/grpc/GrpcService", "builder", serverOf(armeria)},
	{"io/servicetalk/grpc/netty/GrpcServers", "forPort forAddress", serverOf(serviceTalk)},
	{"io/helidon/webserver/grpc/GrpcRouting", "builder", serverOf(helidon)},
	{"io/helidon/grpc/server/GrpcServer", "create builder", withHealth(serverOf(helidon))},
	{
		"scalapb/zio_grpc/ServerLayer$",
		"fromService fromServices fromServiceList fromServiceLayer fromEnvironment", serverOf(zioGRPC),
	},
	{
		"org/apache/pekko/grpc/scaladsl/ServiceHandler$ org/apache/pekko/grpc/javadsl/ServiceHandler",
		"concatOrNotFound handler concat", serverOf(pekkoGRPC),
	},
	{
		"akka/grpc/scaladsl/ServiceHandler$ akka/grpc/javadsl/ServiceHandler",
		"concatOrNotFound handler concat", serverOf(akkaGRPC),
	},

	{"io/grpc/protobuf/services/HealthStatusManager io/grpc/services/HealthStatusManager", "<init>", healthRegistered},
	{"com/linecorp/armeria/server/grpc/GrpcServiceBuilder", "enableHealthCheckService", healthRegistered},
	{"com/linecorp/armeria/server/grpc/GrpcHealthCheckService", "builder of", healthRegistered},
	{"io/servicetalk/grpc/health/DefaultHealthService", "<init>", healthRegistered},
	{"io/vertx/grpc/health/HealthService", "create", healthRegistered},
})

// callRule is a row of callFindings: each of the methods of each of the classes, separated by spaces.
type callRule struct {
	classes, methods string
	finding          analyzer.Finding
}

func callTable(rules []callRule) map[string]analyzer.Finding {
	table := map[string]analyzer.Finding{}
	for _, r := range rules {
		for class := range strings.FieldsSeq(r.classes) {
			for method := range strings.FieldsSeq(r.methods) {
				table[class+"."+method] = r.finding
			}
		}
	}
	return table
}

// annotationFindings are the descriptors of the annotations that make a class a service of a framework.
var annotationFindings = map[string]analyzer.Finding{
	"Lorg/springframework/grpc/server/service/GrpcService;":       withHealth(servedBy(springGRPC)),
	"Lnet/devh/boot/grpc/server/service/GrpcService;":             withHealth(servedBy(netDevh)),
	"Lnet/devh/springboot/autoconfigure/grpc/server/GrpcService;": withHealth(servedBy(netDevh)),
	"Lorg/lognet/springboot/grpc/GRpcService;":                    withHealth(servedBy(logNet)),
	"Lio/quarkus/grpc/GrpcService;":                               withHealth(servedBy(quarkus)),
	"Lio/helidon/grpc/api/Grpc$GrpcService;":                      servedBy(helidon),
	"Lio/helidon/microprofile/grpc/core/Grpc;":                    withHealth(servedBy(helidon)),
	"Lorg/apache/dubbo/config/annotation/DubboService;":           dubboExported,
}

// superclassRules are the generated classes that the implementation of a service extends. The first that matches holds.
var superclassRules = []struct {
	class   *regexp.Regexp
	finding analyzer.Finding
}{
	{regexp.MustCompile(`(^|/)HealthGrpc(Kt)?\$Health\w*ImplBase$|(^|/)AbstractHealthRouter$`), healthRegistered},
	{regexp.MustCompile(`Grpc(Kt)?\$\w+ImplBase$`), implementationOf(grpcJava)},
	{regexp.MustCompile(`Triple\$\w+ImplBase$`), dubboExported},
}

// stubRules are the methods of generated classes that a server calls. The first that matches holds.
var stubRules = []stubRule{
	{regexp.MustCompile(`(^|/)Health(Handler\$|HandlerFactory)$`), handlerMethod, actorSystem, healthRegistered},
	{regexp.MustCompile(`Handler(\$|Factory)$`), handlerMethod, pekkoSystem, serverOf(pekkoGRPC)},
	{regexp.MustCompile(`Handler(\$|Factory)$`), handlerMethod, akkaSystem, serverOf(akkaGRPC)},
	{regexp.MustCompile(`(^|/)AbstractHealthRouter$`), regexp.MustCompile(`^<init>$`), actorSystem, healthRegistered},
	{regexp.MustCompile(`(^|/)Abstract\w+Router$`), regexp.MustCompile(`^<init>$`), actorSystem, servedBy(playGRPC)},
	{regexp.MustCompile(`(^|/)HealthFs2Grpc(Trailers)?\$$`), bindService, nil, healthRegistered},
	{regexp.MustCompile(`(^|/)HealthGrpc\$$`), bindService, nil, healthRegistered},
	{regexp.MustCompile(`Fs2Grpc(Trailers)?\$$`), bindService, nil, serviceOf(fs2GRPC)},
	{regexp.MustCompile(`Grpc\$$`), bindService, nil, serviceOf(grpcJava)},
}

// stubRule is a call of a generated class.
type stubRule struct {
	class, method *regexp.Regexp
	descriptor    *regexp.Regexp // nil for any
	finding       analyzer.Finding
}

func (r stubRule) matches(call classfile.Call) bool {
	return r.class.MatchString(call.Class) && r.method.MatchString(call.Method) &&
		(r.descriptor == nil || r.descriptor.MatchString(call.Descriptor))
}

var (
	handlerMethod = regexp.MustCompile(`^(apply|partial|withServerReflection|create\w*)$`)
	bindService   = regexp.MustCompile(`^bindService(Resource)?$`)
	// actorSystem is a parameter of the handlers of akka-grpc and pekko-grpc and of the routers of Play, and not of
	// others with such names: the actor system, or what is made of it.
	actorSystem = regexp.MustCompile(`L(akka|org/apache/pekko)/` + systemClass)
	akkaSystem  = regexp.MustCompile(`Lakka/` + systemClass)
	pekkoSystem = regexp.MustCompile(`Lorg/apache/pekko/` + systemClass)
)

const systemClass = `(actor/(ClassicActorSystemProvider|ActorSystem)|stream/Materializer);`
