package jvm

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// classKeywords are in every class file that has a finding.
var classKeywords = source.NewKeywords("grpc", "Grpc", "GRpc", "Triple$", "apache/dubbo", "akka/", "pekko/")

// testReference is what the constants of tests begin with.
var testReference = lazyregexp.New(`^\(?L?(?:org/junit/|junit/framework/|org/testng/|org/scalatest/|munit/|` +
	`io/kotest/|io/grpc/testing/|kotlin/test/|org/specs2/)`)

// compilerMarks are the annotations and attributes by which compilers mark their classes: kotlinc marks every class,
// scalac those that are in no other class by ScalaSig or TASTY, and all by ScalaInlineInfo.
var compilerMarks = map[string]string{
	"Lkotlin/Metadata;": kotlin, "ScalaSig": scala, "ScalaInlineInfo": scala, "TASTY": scala,
}

// analyzeClass analyzes a class file, which is in an archive if entry says where. The result is nil if nothing is found
// and if the bytes are no class file.
func analyzeClass(data []byte, entry string) *analyzer.Result[extra] {
	if !classKeywords.In(data) {
		return nil
	}
	c, ok := parseClass(data)
	if !ok || isGenerated(c) || servingLibrary.MatchString(c.name) {
		return nil
	}
	language, mains := "", 0
	for text := range c.texts() {
		if string(text) == "main" || string(text) == "([Ljava/lang/String;)V" {
			mains++ // its name, and what it takes
		}
		if testReference.Match(text) {
			return nil
		}
		if l, ok := compilerMarks[string(text)]; ok {
			language = l
		}
	}
	found := classFindings(c, entry)
	if len(found) == 0 {
		return nil
	}
	if mains == 2 {
		found = inMain(found)
	}
	return &analyzer.Result[extra]{Built: true, Findings: found, Language: language}
}

// isGenerated reports whether a class is generated for a service: it lies in the class that it extends, or Quarkus
// makes it for clients as well.
func isGenerated(c *class) bool {
	return strings.HasPrefix(c.super, outermost(c.name)+"$") ||
		slices.ContainsFunc(c.interfaces, func(i string) bool { return strings.HasSuffix(i, "/MutinyBean") })
}

// outermost returns the class in which a class lies and which lies in no other.
func outermost(name string) string {
	outer, _, _ := strings.Cut(name, "$")
	return outer
}

// classFindings returns what a class calls, what it is annotated with and what it extends, each once.
func classFindings(c *class, entry string) []finding.Finding {
	var found []finding.Finding
	seen := map[string]bool{}
	add := func(proves finding.Make, what string) {
		what = strings.ReplaceAll(what, "/", ".")
		if proves == nil || seen[what] {
			return
		}
		seen[what] = true
		if f := notOther(proves)(finding.AtPlace(plan.Place{}, entry+what), what); f != nil {
			found = append(found, f)
		}
	}
	for _, call := range c.calls() {
		add(provenByCall(c, call), call.class+"."+call.method)
	}
	for text := range c.texts() {
		add(annotationFindings[string(text)], "@"+strings.Trim(string(text), "L;"))
	}
	for _, rule := range superclassRules {
		if rule.class.MatchString(c.super) {
			add(rule.proves, c.super)
			break
		}
	}
	if slices.Contains(c.interfaces, zioServerMain) {
		add(finding.Constructs(zioGRPC), zioServerMain)
	}
	return found
}

// provenByCall returns what a call in a class proves, nil for nothing.
func provenByCall(c *class, call call) finding.Make {
	if proves := callFindings[call.class+"."+call.method]; proves != nil {
		return proves
	}
	// Dubbo's protocols are chosen by name, and "tri" is that of Triple.
	if call.class == "org/apache/dubbo/config/ProtocolConfig" && call.method == "<init>" && c.hasString("tri") {
		return finding.Constructs(dubbo)
	}
	for _, rule := range stubRules {
		if rule.matches(call) && !isGeneratedWith(c, call.class) {
			return rule.proves
		}
	}
	return nil
}

// generatedCaller is a generated class that calls other generated classes.
var generatedCaller = lazyregexp.New(`(^|/)(Abstract\w+Router|\w+PowerApiHandler(Factory)?)(\$|$)`)

// isGeneratedWith reports whether a class is generated together with another one that it calls.
func isGeneratedWith(c *class, other string) bool {
	return outermost(c.name) == outermost(other) || generatedCaller.MatchString(c.name)
}

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

func (r stubRule) matches(call call) bool {
	return r.class.MatchString(call.class) && r.method.MatchString(call.method) &&
		(r.descriptor == nil || r.descriptor.MatchString(call.descriptor))
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

var (
	// libraryClass is in a library or a framework. In a jar that holds an app with all its dependencies, such classes
	// are not the app's own.
	libraryClass = lazyregexp.New(`^(?:io/(?:grpc|netty|vertx|quarkus|micronaut|helidon|opentelemetry|opencensus|` +
		`envoyproxy|temporal|dapr|etcd|servicetalk|perfmark|micrometer|smallrye|prometheus)|` +
		`com/(?:google|linecorp|fasterxml|lightbend|typesafe|salesforce/grpc/contrib)|` +
		`org/(?:springframework|lognet|apache|eclipse)|net/devh|akka|play|scala|scalapb|kotlin|kotlinx|zio|fs2|cats|` +
		`reactor|META-INF/versions)/`)
	// servingLibrary is in a further library that holds a gRPC server for those who start it. An app that has one among
	// its dependencies does not serve gRPC by that.
	servingLibrary = lazyregexp.New(`^(?:org/(?:hyperledger/fabric/shim|grpcmock|wiremock|mockserver)|` +
		`com/alibaba/nacos|io/camunda/zeebe)/`)
)
