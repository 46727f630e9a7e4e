package jvm

import (
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
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
		"forPort forAddress", finding.Constructs(grpcJava),
	},
	{"io/grpc/Grpc", "newServerBuilderForPort", finding.Constructs(grpcJava)},
	{"com/salesforce/grpc/contrib/spring/GrpcServerHost", "<init>", finding.Constructs(grpcJava)},
	{
		"io/grpc/servlet/ServletServerBuilder io/grpc/servlet/GrpcServlet " +
			"io/grpc/servlet/jakarta/ServletServerBuilder io/grpc/servlet/jakarta/GrpcServlet",
		"<init>", finding.Constructs(grpcServlet),
	},
	{"io/vertx/grpc/server/GrpcServer io/vertx/grpcio/server/GrpcIoServer", "server", finding.Constructs(vertx)},
	{"io/vertx/grpc/VertxServerBuilder", "forPort forAddress", finding.Constructs(vertx)},
	{"com/linecorp/armeria/server/grpc/GrpcService", "builder", finding.Constructs(armeria)},
	{"io/servicetalk/grpc/netty/GrpcServers", "forPort forAddress", finding.Constructs(serviceTalk)},
	{"io/helidon/webserver/grpc/GrpcRouting", "builder", finding.Constructs(helidon)},
	{"io/helidon/grpc/server/GrpcServer", "create builder", finding.WithHealth(finding.Constructs(helidon))},
	{
		"scalapb/zio_grpc/ServerLayer$",
		"fromService fromServices fromServiceList fromServiceLayer fromEnvironment", finding.Constructs(zioGRPC),
	},
	{
		"org/apache/pekko/grpc/scaladsl/ServiceHandler$ org/apache/pekko/grpc/javadsl/ServiceHandler",
		"concatOrNotFound handler concat", finding.Constructs(pekkoGRPC),
	},
	{
		"akka/grpc/scaladsl/ServiceHandler$ akka/grpc/javadsl/ServiceHandler",
		"concatOrNotFound handler concat", finding.Constructs(akkaGRPC),
	},

	{
		"io/grpc/protobuf/services/HealthStatusManager io/grpc/services/HealthStatusManager", "<init>",
		finding.RegistersHealth,
	},
	{"com/linecorp/armeria/server/grpc/GrpcServiceBuilder", "enableHealthCheckService", finding.RegistersHealth},
	{"com/linecorp/armeria/server/grpc/GrpcHealthCheckService", "builder of", finding.RegistersHealth},
	{"io/servicetalk/grpc/health/DefaultHealthService", "<init>", finding.RegistersHealth},
	{"io/vertx/grpc/health/HealthService", "create", finding.RegistersHealth},
})

// callRule is a row of callFindings: each of the methods of each of the classes, separated by spaces.
type callRule struct {
	classes, methods string
	proves           finding.Make
}

func callTable(rules []callRule) map[string]finding.Make {
	table := map[string]finding.Make{}
	for _, r := range rules {
		for class := range strings.FieldsSeq(r.classes) {
			for method := range strings.FieldsSeq(r.methods) {
				table[class+"."+method] = r.proves
			}
		}
	}
	return table
}

// annotationFindings are the descriptors of the annotations that make a class a service of a framework.
var annotationFindings = map[string]finding.Make{
	"Lorg/springframework/grpc/server/service/GrpcService;":       finding.WithHealth(finding.Serves(springGRPC)),
	"Lnet/devh/boot/grpc/server/service/GrpcService;":             finding.WithHealth(finding.Serves(netDevh)),
	"Lnet/devh/springboot/autoconfigure/grpc/server/GrpcService;": finding.WithHealth(finding.Serves(netDevh)),
	"Lorg/lognet/springboot/grpc/GRpcService;":                    finding.WithHealth(finding.Serves(logNet)),
	"Lio/quarkus/grpc/GrpcService;":                               finding.WithHealth(finding.Serves(quarkus)),
	"Lio/helidon/grpc/api/Grpc$GrpcService;":                      finding.Serves(helidon),
	"Lio/helidon/microprofile/grpc/core/Grpc;":                    finding.WithHealth(finding.Serves(helidon)),
	"Lorg/apache/dubbo/config/annotation/DubboService;":           exportsToDubbo,
}

// superclassRules are the generated classes that the implementation of a service extends. The first that matches holds.
var superclassRules = []struct {
	class  *regexp.Regexp
	proves finding.Make
}{
	{
		regexp.MustCompile(`(^|/)HealthGrpc(Kt)?\$Health\w*ImplBase$|(^|/)AbstractHealthRouter$`),
		finding.RegistersHealth,
	},
	{regexp.MustCompile(`Grpc(Kt)?\$\w+ImplBase$`), finding.Implements(grpcJava)},
	{regexp.MustCompile(`Triple\$\w+ImplBase$`), exportsToDubbo},
}

// stubRules are the methods of generated classes that a server calls. The first that matches holds.
var stubRules = []stubRule{
	{regexp.MustCompile(`(^|/)Health(Handler\$|HandlerFactory)$`), handlerMethod, actorSystem, finding.RegistersHealth},
	{regexp.MustCompile(`Handler(\$|Factory)$`), handlerMethod, pekkoSystem, finding.Constructs(pekkoGRPC)},
	{regexp.MustCompile(`Handler(\$|Factory)$`), handlerMethod, akkaSystem, finding.Constructs(akkaGRPC)},
	{
		regexp.MustCompile(`(^|/)AbstractHealthRouter$`), regexp.MustCompile(`^<init>$`), actorSystem,
		finding.RegistersHealth,
	},
	{
		regexp.MustCompile(`(^|/)Abstract\w+Router$`), regexp.MustCompile(`^<init>$`), actorSystem,
		finding.Serves(playGRPC),
	},
	{regexp.MustCompile(`(^|/)HealthFs2Grpc(Trailers)?\$$`), bindService, nil, finding.RegistersHealth},
	{regexp.MustCompile(`(^|/)HealthGrpc\$$`), bindService, nil, finding.RegistersHealth},
	{regexp.MustCompile(`Fs2Grpc(Trailers)?\$$`), bindService, nil, finding.Registers(fs2GRPC)},
	{regexp.MustCompile(`Grpc\$$`), bindService, nil, finding.Registers(grpcJava)},
}

// stubRule is a call of a generated class.
type stubRule struct {
	class, method *regexp.Regexp
	descriptor    *regexp.Regexp // nil for any
	proves        finding.Make
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
