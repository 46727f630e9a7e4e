package jvm

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/jvm/classfile"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

const zioServerMain = "scalapb/zio_grpc/ServerMain"

var (
	// callFindings are the methods of libraries that prove something if a class calls them, as class.method.
	callFindings = callTable(append(libraryCalls, []callRule{
		{"io/grpc/Grpc", "newServerBuilderForPort", finding.Constructs(grpcJava)},
		{
			"higherkindness/mu/rpc/config/server/package$", "BuildServerFromConfig", finding.Constructs(muScala),
		},
		{
			"scalapb/zio_grpc/ServerLayer$",
			"fromService fromServices fromServiceList fromServiceLayer fromEnvironment", finding.Constructs(zioGRPC),
		},
		{
			"io/grpc/protobuf/services/HealthStatusManager io/grpc/services/HealthStatusManager", "<init>",
			finding.RegistersHealth,
		},
		{"com/linecorp/armeria/server/grpc/GrpcServiceBuilder", "enableHealthCheckService", finding.RegistersHealth},
	}...))
	// annotationFindings are the descriptors of the annotations that make a class a service of a framework.
	annotationFindings = annotationTable()
)

func annotationTable() map[string]finding.Make {
	table := map[string]finding.Make{}
	for _, a := range annotations {
		table["L"+a.class+";"] = a.proves
	}
	return table
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

// superclassRules are the generated classes that the implementation of a service extends. The first that matches holds.
// A service Health of another package than grpc.health.v1 may be another one.
var superclassRules = []struct {
	class  *lazyregexp.Regexp
	proves finding.Make
}{
	{
		lazyregexp.New(`(^|/)health/v1/(HealthGrpc(Kt)?\$Health\w*ImplBase|AbstractHealthRouter)$`),
		finding.RegistersHealth,
	},
	{
		lazyregexp.New(`(^|/)(HealthGrpc(Kt)?\$Health\w*ImplBase|AbstractHealthRouter)$`),
		finding.MayRegisterHealth,
	},
	{lazyregexp.New(`Grpc(Kt)?\$\w+ImplBase$`), finding.Implements(grpcJava)},
	{lazyregexp.New(`Triple\$\w+ImplBase$`), exportsToDubbo},
}

// stubRules are the methods of generated classes that a server calls. The first that matches holds.
var stubRules = []stubRule{
	{
		lazyregexp.New(`(^|/)health/v1/Health(Handler\$|HandlerFactory)$`), handlerMethod, actorSystem,
		finding.RegistersHealth,
	},
	{lazyregexp.New(`(^|/)Health(Handler\$|HandlerFactory)$`), handlerMethod, actorSystem, finding.MayRegisterHealth},
	{lazyregexp.New(`Handler(\$|Factory)$`), handlerMethod, pekkoSystem, finding.Constructs(pekkoGRPC)},
	{lazyregexp.New(`Handler(\$|Factory)$`), handlerMethod, akkaSystem, finding.Constructs(akkaGRPC)},
	{
		lazyregexp.New(`(^|/)health/v1/AbstractHealthRouter$`), lazyregexp.New(`^<init>$`), actorSystem,
		finding.RegistersHealth,
	},
	{
		lazyregexp.New(`(^|/)AbstractHealthRouter$`), lazyregexp.New(`^<init>$`), actorSystem,
		finding.MayRegisterHealth,
	},
	{
		lazyregexp.New(`(^|/)Abstract\w+Router$`), lazyregexp.New(`^<init>$`), actorSystem,
		finding.Serves(playGRPC),
	},
	{
		lazyregexp.New(`(^|/)health/v1/(\w+/)?Health(Fs2)?Grpc(Trailers)?\$$`), bindService, nil,
		finding.RegistersHealth,
	},
	{lazyregexp.New(`(^|/)Health(Fs2)?Grpc(Trailers)?\$$`), bindService, nil, finding.MayRegisterHealth},
	{lazyregexp.New(`Fs2Grpc(Trailers)?\$$`), bindService, nil, finding.Registers(fs2GRPC)},
	{lazyregexp.New(`Grpc\$$`), bindService, nil, finding.Registers(grpcJava)},
}

// stubRule is a call of a generated class.
type stubRule struct {
	class, method *lazyregexp.Regexp
	descriptor    *lazyregexp.Regexp // nil for any
	proves        finding.Make
}

func (r stubRule) matches(call classfile.Call) bool {
	return r.class.MatchString(call.Class) && r.method.MatchString(call.Method) &&
		(r.descriptor == nil || r.descriptor.MatchString(call.Descriptor))
}

var (
	handlerMethod = lazyregexp.New(`^(apply|partial|withServerReflection|create\w*)$`)
	bindService   = lazyregexp.New(`^bindService(Resource)?$`)
	// actorSystem is a parameter of the handlers of akka-grpc and pekko-grpc and of the routers of Play, and not of
	// others with such names: the actor system, or what is made of it.
	actorSystem = lazyregexp.New(`L(akka|org/apache/pekko)/` + systemClass)
	akkaSystem  = lazyregexp.New(`Lakka/` + systemClass)
	pekkoSystem = lazyregexp.New(`Lorg/apache/pekko/` + systemClass)
)

const systemClass = `(actor/(ClassicActorSystemProvider|ActorSystem)|stream/Materializer);`
