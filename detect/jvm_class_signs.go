package detect

import (
	"regexp"
	"slices"
	"strings"
)

// jvmCalled are the methods that decide, of a library's classes: the same that decide in sources.
var jvmCalled = jvmCallTable([]struct {
	classes, methods string
	sign             sign
}{
	{"io/grpc/ServerBuilder io/grpc/netty/NettyServerBuilder io/grpc/netty/shaded/io/grpc/netty/NettyServerBuilder " +
		"io/grpc/okhttp/OkHttpServerBuilder io/grpc/xds/XdsServerBuilder io/grpc/alts/AltsServerBuilder",
		"forPort forAddress", sign{kind: constructs, framework: "grpc-java"}},
	{"io/grpc/Grpc", "newServerBuilderForPort", sign{kind: constructs, framework: "grpc-java"}},
	{"io/grpc/servlet/ServletServerBuilder io/grpc/servlet/GrpcServlet io/grpc/servlet/jakarta/ServletServerBuilder " +
		"io/grpc/servlet/jakarta/GrpcServlet", "<init>", sign{kind: constructs, framework: "grpc-servlet"}},
	{"io/vertx/grpc/server/GrpcServer io/vertx/grpcio/server/GrpcIoServer", "server", sign{kind: constructs, framework: "Vert.x"}},
	{"io/vertx/grpc/VertxServerBuilder", "forPort forAddress", sign{kind: constructs, framework: "Vert.x"}},
	{"com/linecorp/armeria/server/grpc/GrpcService", "builder", sign{kind: constructs, framework: "Armeria"}},
	{"io/servicetalk/grpc/netty/GrpcServers", "forPort forAddress", sign{kind: constructs, framework: "ServiceTalk"}},
	{"io/helidon/webserver/grpc/GrpcRouting", "builder", sign{kind: constructs, framework: "Helidon"}},
	{"io/helidon/grpc/server/GrpcServer", "create builder", sign{kind: constructs, framework: "Helidon", automatic: true}},
	{"scalapb/zio_grpc/ServerLayer$", "fromService fromServices fromServiceList fromServiceLayer fromEnvironment",
		sign{kind: constructs, framework: "ZIO gRPC"}},
	{"akka/grpc/scaladsl/ServiceHandler$ akka/grpc/javadsl/ServiceHandler org/apache/pekko/grpc/scaladsl/ServiceHandler$ " +
		"org/apache/pekko/grpc/javadsl/ServiceHandler", "concatOrNotFound handler concat", sign{kind: constructs, framework: "Pekko gRPC"}},

	{"io/grpc/protobuf/services/HealthStatusManager io/grpc/services/HealthStatusManager", "<init>", sign{kind: health}},
	{"com/linecorp/armeria/server/grpc/GrpcServiceBuilder", "enableHealthCheckService", sign{kind: health}},
	{"com/linecorp/armeria/server/grpc/GrpcHealthCheckService", "builder of", sign{kind: health}},
	{"io/servicetalk/grpc/health/DefaultHealthService", "<init>", sign{kind: health}},
	{"io/vertx/grpc/health/HealthService", "create", sign{kind: health}},
})

func jvmCallTable(rows []struct {
	classes, methods string
	sign             sign
}) map[string]sign {
	table := map[string]sign{}
	for _, row := range rows {
		for class := range strings.FieldsSeq(row.classes) {
			for method := range strings.FieldsSeq(row.methods) {
				table[class+"."+method] = row.sign
			}
		}
	}
	return table
}

// jvmAnnotated are the descriptors of annotations that make a class a service of a framework's.
var jvmAnnotated = map[string]sign{
	"Lorg/springframework/grpc/server/service/GrpcService;":       {kind: registers, framework: "Spring gRPC", automatic: true},
	"Lnet/devh/boot/grpc/server/service/GrpcService;":             {kind: registers, framework: "net.devh", automatic: true},
	"Lnet/devh/springboot/autoconfigure/grpc/server/GrpcService;": {kind: registers, framework: "net.devh", automatic: true},
	"Lorg/lognet/springboot/grpc/GRpcService;":                    {kind: registers, framework: "LogNet", automatic: true},
	"Lio/quarkus/grpc/GrpcService;":                               {kind: registers, framework: "Quarkus", automatic: true},
	"Lio/helidon/grpc/api/Grpc$GrpcService;":                      {kind: registers, framework: "Helidon"},
	"Lio/helidon/microprofile/grpc/core/Grpc;":                    {kind: registers, framework: "Helidon", automatic: true},
	"Lorg/apache/dubbo/config/annotation/DubboService;":           {kind: jvmDubbo, framework: "Dubbo"},
}

// jvmExtended are the classes that a service extends.
var jvmExtended = []struct {
	class *regexp.Regexp
	sign  sign
}{
	{regexp.MustCompile(`(^|/)HealthGrpc(Kt)?\$Health\w*ImplBase$|(^|/)AbstractHealthRouter$`), sign{kind: health}},
	{regexp.MustCompile(`Grpc(Kt)?\$\w+ImplBase$`), sign{kind: registers, framework: "grpc-java"}},
	{regexp.MustCompile(`Triple\$\w+ImplBase$`), sign{kind: jvmDubbo, framework: "Dubbo"}},
}

// jvmStubCalled are the methods of generated classes that a server calls. A descriptor tells pekko-grpc's handlers from
// others of the name, and Play's routers: both are given the actor system, or what it makes.
var jvmStubCalled = []struct {
	class, method, descriptor *regexp.Regexp
	sign                      sign
}{
	{regexp.MustCompile(`(^|/)Health(Handler\$|HandlerFactory)$`), jvmHandlerMethod, jvmActorSystem, sign{kind: health}},
	{regexp.MustCompile(`Handler(\$|Factory)$`), jvmHandlerMethod, jvmActorSystem, sign{kind: constructs, framework: "Pekko gRPC"}},
	{regexp.MustCompile(`(^|/)Abstract\w+Router$`), regexp.MustCompile(`^<init>$`), jvmActorSystem, sign{kind: registers, framework: "Play gRPC"}},
	{regexp.MustCompile(`Fs2Grpc(Trailers)?\$$`), regexp.MustCompile(`^bindService`), nil, sign{kind: registers, framework: "fs2-grpc"}},
	{regexp.MustCompile(`Grpc\$$`), regexp.MustCompile(`^bindService$`), nil, sign{kind: registers, framework: "grpc-java"}},
}

var (
	jvmHandlerMethod = regexp.MustCompile(`^(apply|partial|withServerReflection|create\w*)$`)
	jvmActorSystem   = regexp.MustCompile(`L(akka|org/apache/pekko)/(actor/(ClassicActorSystemProvider|ActorSystem)|stream/Materializer);`)
)

// signs returns what a class says.
func (c *jvmClass) signs() []sign {
	var signs []sign
	add := func(s sign, what string) {
		s.what = strings.ReplaceAll(what, "/", ".")
		if !jvmInfrastructure.MatchString(s.what) && !slices.Contains(signs, s) {
			signs = append(signs, s)
		}
	}
	for _, call := range c.calls() {
		if s, ok := c.called(call); ok {
			add(s, call.class+"."+call.method)
		}
	}
	for _, constant := range c.pool {
		if s, ok := jvmAnnotated[string(constant.text)]; ok {
			add(s, "@"+strings.Trim(string(constant.text), "L;"))
		}
	}
	for _, row := range jvmExtended {
		if row.class.MatchString(c.super) {
			add(row.sign, c.super)
			break
		}
	}
	if slices.Contains(c.interfaces, "scalapb/zio_grpc/ServerMain") {
		add(sign{kind: constructs, framework: "ZIO gRPC"}, "scalapb/zio_grpc/ServerMain")
	}
	return signs
}

func (c *jvmClass) called(call jvmCall) (sign, bool) {
	if s, ok := jvmCalled[call.class+"."+call.method]; ok {
		return s, true
	}
	// Dubbo's protocols are told by name, and "tri" is Triple's.
	if call.class == "org/apache/dubbo/config/ProtocolConfig" && call.method == "<init>" && c.hasString("tri") {
		return sign{kind: constructs, framework: "Dubbo"}, true
	}
	for _, row := range jvmStubCalled {
		if row.class.MatchString(call.class) && !c.within(call.class) && row.method.MatchString(call.method) &&
			(row.descriptor == nil || row.descriptor.MatchString(call.descriptor)) {
			return row.sign, true
		}
	}
	return sign{}, false
}

// jvmGeneratedCaller is the name of a generated class that calls what other generated classes have.
var jvmGeneratedCaller = regexp.MustCompile(`(^|/)(Abstract\w+Router|\w+PowerApiHandler(Factory)?)(\$|$)`)

// within reports whether the class is generated with another one: a part of it, or what stands before it.
func (c *jvmClass) within(other string) bool {
	return jvmOuter(c.name) == jvmOuter(other) || jvmGeneratedCaller.MatchString(c.name)
}

// jvmOuter returns the class around all others that one is in.
func jvmOuter(name string) string {
	outer, _, _ := strings.Cut(name, "$")
	return outer
}
