package jvm

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// class is what is read of a class file, as compilers of Java, Kotlin and Scala write it (Java Virtual Machine
// Specification, chapter 4). Names have slashes where Java has dots, and "$" before the name of an inner class:
// demo/GreeterGrpc$GreeterImplBase.
type class struct {
	name string
	// texts are the names of classes and members that the class has or uses, descriptors, annotations and literals.
	texts map[string]bool
}

// constantSizes are how many bytes follow each tag of a constant (JVMS, table 4.4-A). Those of a text begin with its
// length, and the text follows them.
var constantSizes = map[byte]int{
	tagUTF8: 2, 3: 4, 4: 4, tagLong: 8, tagDouble: 8, tagClass: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4,
	18: 4, 19: 2, 20: 2,
}

const (
	tagUTF8   = 1
	tagLong   = 5
	tagDouble = 6
	tagClass  = 7
)

// readClass reads the constants and the name of a class file. ok is false if the bytes are no class file.
func readClass(data []byte) (c class, ok bool) {
	const header = 10
	if len(data) < header || !bytes.HasPrefix(data, []byte{0xca, 0xfe, 0xba, 0xbe}) {
		return c, false
	}
	count, rest := int(binary.BigEndian.Uint16(data[header-2:])), data[header:]
	texts, names := make([]string, count), make([]int, count)
	c.texts = map[string]bool{}
	for i := 1; i < count; i++ {
		if len(rest) < 3 {
			return c, false
		}
		tag, operand := rest[0], int(binary.BigEndian.Uint16(rest[1:]))
		size := constantSizes[tag]
		if tag == tagUTF8 {
			size += operand
		}
		if size == 0 || len(rest) <= size {
			return c, false
		}
		switch tag {
		case tagUTF8:
			texts[i] = string(rest[3 : 1+size])
			c.texts[texts[i]] = true
		case tagClass:
			names[i] = operand
		case tagLong, tagDouble:
			i++ // it takes two entries
		}
		rest = rest[1+size:]
	}
	if len(rest) < 4 {
		return c, false
	}
	if this := int(binary.BigEndian.Uint16(rest[2:])); this < count && names[this] < count {
		c.name = texts[names[this]]
	}
	return c, true
}

var (
	// classKeywords are in every class file that has a finding.
	classKeywords = source.NewKeywords("grpc", "Grpc", "GRpc", "Triple$", "apache/dubbo", "akka/", "pekko/")
	// otherClass is what the constants of tests begin with, or those of what Quarkus makes for clients as well.
	otherClass = lazyregexp.New(`^\(?L?(?:org/junit/|junit/framework/|org/testng/|org/scalatest/|munit/|io/kotest/|` +
		`io/grpc/testing/|kotlin/test/|org/specs2/|io/quarkus/grpc/(?:runtime/)?MutinyBean\b)`)
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
	// generatedCaller is a generated class that calls other generated classes.
	generatedCaller = lazyregexp.New(`(^|/)(Abstract\w+Router|\w+PowerApiHandler(Factory)?)(\$|$)`)
)

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
	c, ok := readClass(data)
	if !ok || servingLibrary.MatchString(c.name) {
		return nil
	}
	result := &analyzer.Result[extra]{Built: true}
	for text := range c.texts {
		if otherClass.MatchString(text) {
			return nil
		}
		if language, ok := compilerMarks[text]; ok {
			result.Language = language
		}
	}
	if result.Findings = c.findings(entry); len(result.Findings) == 0 {
		return nil
	}
	if c.texts["main"] && c.texts["([Ljava/lang/String;)V"] {
		result.Findings = inMain(result.Findings)
	}
	return result
}

// findings returns what a class proves by the classes that it uses.
func (c class) findings(entry string) []finding.Finding {
	var found []finding.Finding
	add := func(proves finding.Make, what string) {
		what = strings.ReplaceAll(what, "/", ".")
		if f := notOther(proves)(finding.AtPlace(plan.Place{}, entry+what), what); f != nil {
			found = append(found, f)
		}
	}
	for _, r := range classCalls {
		for used := range strings.FieldsSeq(r.classes) {
			isCalled := func(method string) bool { return c.texts[method] }
			if c.texts[used] && slices.ContainsFunc(strings.Fields(r.methods), isCalled) {
				add(r.proves, used)
			}
		}
	}
	for _, a := range annotations {
		if c.texts["L"+a.class+";"] {
			add(a.proves, "@"+a.class)
		}
	}
	texts := slices.Sorted(maps.Keys(c.texts))
	for _, text := range texts {
		if outermost(c.name) == outermost(text) || generatedCaller.MatchString(c.name) {
			continue
		}
		for _, r := range classRules {
			if r.class.MatchString(text) && slices.ContainsFunc(texts, r.with.MatchString) {
				add(r.proves, text)
				break
			}
		}
	}
	return found
}

// outermost returns the class in which a class lies and which lies in no other.
func outermost(name string) string {
	outer, _, _ := strings.Cut(name, "$")
	return outer
}

// classCalls are the methods of libraries that prove something if a class uses them.
var classCalls = append(libraryCalls, []callRule{
	{"io/grpc/Grpc", "newServerBuilderForPort", finding.Constructs(grpcJava)},
	{"higherkindness/mu/rpc/config/server/package$", "BuildServerFromConfig", finding.Constructs(muScala)},
	{
		"scalapb/zio_grpc/ServerLayer$",
		"fromService fromServices fromServiceList fromServiceLayer fromEnvironment", finding.Constructs(zioGRPC),
	},
	{"scalapb/zio_grpc/ServerMain", "scalapb/zio_grpc/ServerMain", finding.Constructs(zioGRPC)},
	// Dubbo's protocols are chosen by name, and "tri" is that of Triple.
	{"org/apache/dubbo/config/ProtocolConfig", "tri", finding.Constructs(dubbo)},
	{
		"io/grpc/protobuf/services/HealthStatusManager io/grpc/services/HealthStatusManager", "<init>",
		finding.RegistersHealth,
	},
	{"com/linecorp/armeria/server/grpc/GrpcServiceBuilder", "enableHealthCheckService", finding.RegistersHealth},
}...)

// The handlers that Akka gRPC and Pekko gRPC generate, and the routers of Play, take a parameter that others with such
// names do not have: the actor system, or what is made of it.
const (
	handler = `Handler(\$|Factory)$`
	system  = `(actor/(ClassicActorSystemProvider|ActorSystem)|stream/Materializer);`
	health  = `(HealthGrpc(Kt)?\$Health\w*ImplBase|Health(Fs2)?Grpc(Trailers)?\$|Health` + handler +
		`|AbstractHealthRouter)$`
)

var (
	implements  = lazyregexp.New(`ImplBase$`)
	binds       = lazyregexp.New(`^bindService(Resource)?$`)
	usesHealth  = lazyregexp.New(`ImplBase$|^bindService|L(akka|org/apache/pekko)/` + system)
	takesSystem = lazyregexp.New(`L(akka|org/apache/pekko)/` + system)
)

// classRules are generated classes that a server, or the implementation of a service, uses together with another name.
// The first that matches holds. A service Health of another package than grpc.health.v1 may be another one.
var classRules = []struct {
	class, with *lazyregexp.Regexp
	proves      finding.Make
}{
	{lazyregexp.New(`(^|/)health/v1/(\w+/)?` + health), usesHealth, finding.RegistersHealth},
	{lazyregexp.New(`(^|/)` + health), usesHealth, finding.MayRegisterHealth},
	{lazyregexp.New(`Grpc(Kt)?\$\w+ImplBase$`), implements, finding.Implements(grpcJava)},
	{lazyregexp.New(`Triple\$\w+ImplBase$`), implements, exportsToDubbo},
	{lazyregexp.New(handler), lazyregexp.New(`Lorg/apache/pekko/` + system), finding.Constructs(pekkoGRPC)},
	{lazyregexp.New(handler), lazyregexp.New(`Lakka/` + system), finding.Constructs(akkaGRPC)},
	{lazyregexp.New(`(^|/)Abstract\w+Router$`), takesSystem, finding.Serves(playGRPC)},
	{lazyregexp.New(`Fs2Grpc(Trailers)?\$$`), binds, finding.Registers(fs2GRPC)},
	{lazyregexp.New(`Grpc\$$`), binds, finding.Registers(grpcJava)},
}
