package jvm

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// constant is a text among the constants of a class file: the tag, the length and the text (Java Virtual Machine
// Specification, 4.4.7). No tag is a character of names and descriptors.
var constant = lazyregexp.New(`(?s)\x01\x00(.)([\w/$;<>\[()-]+)`)

// class is the set of names of classes and members in a class file, with descriptors, annotations and literals.
// Names have slashes where Java has dots, and "$" before the name of an inner class: demo/GreeterGrpc$GreeterImplBase.
type class map[string]bool

func (c class) has(name string) bool { return c[name] }

func readClass(data []byte) class {
	c := class{}
	for _, m := range constant.FindAllSubmatch(data, -1) {
		if len(m[2]) == int(m[1][0]) {
			c[string(m[2])] = true
		}
	}
	return c
}

var (
	// classKeywords are in every class file that has a finding.
	classKeywords = source.NewKeywords("grpc", "Grpc", "GRpc", "Triple$", "apache/dubbo", "akka/", "pekko/")
	// otherKeywords are in the class files of tests, and in Quarkus' class files for clients as well.
	otherKeywords = source.NewKeywords("org/junit/", "junit/framework/", "org/testng/", "org/scalatest/",
		"munit/FunSuite", "io/kotest/", "io/grpc/testing/", "kotlin/test/", "org/specs2/", "/MutinyBean")
	// libraryClass is a class of a library or a framework. In a jar of an app with all dependencies, library classes
	// are not the app's own.
	libraryClass = lazyregexp.New(`^(?:io/(?:grpc|netty|vertx|quarkus|micronaut|helidon|opentelemetry|opencensus|` +
		`envoyproxy|temporal|dapr|etcd|servicetalk|perfmark|micrometer|smallrye|prometheus)|` +
		`com/(?:google|linecorp|fasterxml|lightbend|typesafe|salesforce/grpc/contrib)|` +
		`org/(?:springframework|lognet|apache|eclipse)|net/devh|akka|play|scala|scalapb|kotlin|kotlinx|zio|fs2|cats|` +
		`reactor|META-INF/versions)/`)
	// servingLibrary is a class of a further library, with a gRPC server that callers may start. The dependency alone
	// does not make an app serve gRPC.
	servingLibrary = lazyregexp.New(`^(?:org/(?:hyperledger/fabric/shim|grpcmock|wiremock|mockserver)|` +
		`com/alibaba/nacos|io/camunda/zeebe)/`)
	// generatedCaller is a generated class that calls other generated classes.
	generatedCaller = lazyregexp.New(`(^|/)(Abstract\w+Router|\w+PowerApiHandler(Factory)?)(\$|\.)`)
)

// compilerMarks are the annotations and attributes of compilers: kotlinc marks every class, scalac marks outermost
// classes by ScalaSig or TASTY, and all classes by ScalaInlineInfo.
var compilerMarks = map[string]string{
	"Lkotlin/Metadata;": kotlin, "ScalaSig": scala, "ScalaInlineInfo": scala, "TASTY": scala,
}

// analyzeClass analyzes a class file, by the path among the packages of an archive or a directory. evidence begins the
// evidence of each finding. The result is nil if there is no finding or if the bytes are no class file.
func analyzeClass(data []byte, file, evidence string) *analyzer.Result[extra] {
	if !bytes.HasPrefix(data, []byte{0xca, 0xfe, 0xba, 0xbe}) || !classKeywords.In(data) || otherKeywords.In(data) ||
		servingLibrary.MatchString(file) {
		return nil
	}
	c := readClass(data)
	result := &analyzer.Result[extra]{Built: true, Findings: c.findings(file, evidence)}
	if len(result.Findings) == 0 {
		return nil
	}
	for mark, language := range compilerMarks {
		if c[mark] {
			result.Language = language
		}
	}
	if c["main"] && c["([Ljava/lang/String;)V"] {
		result.Findings = inMain(result.Findings)
	}
	return result
}

// findings returns findings by the names that a class uses.
func (c class) findings(file, evidence string) []finding.Finding {
	var found []finding.Finding
	add := func(proves finding.Make, what string) {
		what = strings.ReplaceAll(what, "/", ".")
		if f := notOther(proves)(finding.AtPlace(plan.Place{}, evidence+what), what); f != nil {
			found = append(found, f)
		}
	}
	for _, r := range slices.Concat(libraryCalls, classCalls) {
		for used := range strings.FieldsSeq(r.classes) {
			if c[used] && slices.ContainsFunc(strings.Fields(r.methods), c.has) {
				add(r.proves, used)
			}
		}
	}
	for _, a := range annotations {
		if c["L"+a.class+";"] {
			add(a.proves, "@"+a.class)
		}
	}
	names := slices.Sorted(maps.Keys(c))
	for _, used := range names {
		if outermost(file) == outermost(used) || generatedCaller.MatchString(file) {
			continue
		}
		for _, r := range generatedRules {
			if r.class.MatchString(used) && (r.with == nil || slices.ContainsFunc(names, r.with.MatchString)) {
				add(r.proves, used)
				break
			}
		}
	}
	return found
}

// outermost returns the name of the outermost class around a class, without the package.
func outermost(file string) string {
	outer, _, _ := strings.Cut(strings.TrimSuffix(path.Base(file), ".class"), "$")
	return outer
}

// classCalls are rules for class files, in addition to libraryCalls.
var classCalls = []callRule{
	{"io/grpc/Grpc", "newServerBuilderForPort", finding.Constructs(grpcJava)},
	{"higherkindness/mu/rpc/config/server/package$", "BuildServerFromConfig", finding.Constructs(muScala)},
	{"scalapb/zio_grpc/ServerMain", "scalapb/zio_grpc/ServerMain", finding.Constructs(zioGRPC)},
	// Dubbo chooses protocols by name, and "tri" is the name of Triple.
	{"org/apache/dubbo/config/ProtocolConfig", "tri", finding.Constructs(dubbo)},
	{
		"io/grpc/protobuf/services/HealthStatusManager io/grpc/services/HealthStatusManager", "<init>",
		finding.RegistersHealth,
	},
	{"com/linecorp/armeria/server/grpc/GrpcServiceBuilder", "enableHealthCheckService", finding.RegistersHealth},
}

// A handler of Akka gRPC or Pekko gRPC, and a router of Play, takes the actor system or a Materializer. Classes of
// the same names elsewhere do not.
const (
	handler = `Handler(\$|Factory)$`
	system  = `(actor/(ClassicActorSystemProvider|ActorSystem)|stream/Materializer);`
	health  = `(HealthGrpc(Kt)?\$Health\w*ImplBase|Health(Fs2)?Grpc(Trailers)?\$|Health` + handler +
		`|AbstractHealthRouter)$`
)

var (
	binds       = lazyregexp.New(`^bindService(Resource)?$`)
	takesSystem = lazyregexp.New(`L(akka|org/apache/pekko)/` + system)
	usesHealth  = lazyregexp.New(`HealthGrpc(Kt)?\$Health\w*ImplBase$|` + binds.String() + `|` + takesSystem.String())
)

// generatedRules are generated classes that a server, or the implementation of a service, uses together with a second
// name. The first match holds. A service Health outside of grpc.health.v1 may be a different service.
var generatedRules = []struct {
	class, with *lazyregexp.Regexp
	proves      finding.Make
}{
	{lazyregexp.New(`(^|/)health/v1/(\w+/)?` + health), usesHealth, finding.RegistersHealth},
	{lazyregexp.New(`(^|/)` + health), usesHealth, finding.MayRegisterHealth},
	{lazyregexp.New(`Grpc(Kt)?\$\w+ImplBase$`), nil, finding.Implements(grpcJava)},
	{lazyregexp.New(`Triple\$\w+ImplBase$`), nil, onlyWith(triple, finding.Serves(dubbo))},
	{lazyregexp.New(`Fs2Grpc(Trailers)?\$$`), binds, finding.Registers(fs2GRPC)},
	{lazyregexp.New(`Grpc\$$`), binds, finding.Registers(grpcJava)},
	{lazyregexp.New(`(^|/)Abstract\w+Router$`), takesSystem, finding.Serves(playGRPC)},
	{lazyregexp.New(handler), lazyregexp.New(`Lorg/apache/pekko/` + system), finding.Constructs(pekkoGRPC)},
	{lazyregexp.New(handler), lazyregexp.New(`Lakka/` + system), finding.Constructs(akkaGRPC)},
}
