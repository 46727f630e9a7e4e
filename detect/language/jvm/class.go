package jvm

import (
	"bytes"
	"encoding/binary"
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
	name, super string
	// refersTo are the methods that it calls, the class that it extends and the interfaces that it implements:
	// io/grpc/ServerBuilder.forPort (I)Lio/grpc/ServerBuilder;, demo/GreeterGrpc$GreeterImplBase extends.
	refersTo []string
	// texts are string literals, and the names and descriptors of classes, members, annotations and attributes.
	texts map[string]bool
}

// The tags of the constants that are read (JVMS, table 4.4-A).
const (
	tagUTF8            = 1
	tagClass           = 7
	tagString          = 8
	tagMethod          = 10
	tagInterfaceMethod = 11
	tagNameAndType     = 12
)

// constantSizes are how many bytes follow each tag. Those of a text begin with its length, and the text follows them.
var constantSizes = map[byte]int{
	tagUTF8: 2, 3: 4, 4: 4, 5: 8, 6: 8, tagClass: 2, tagString: 2, 9: 4, tagMethod: 4, tagInterfaceMethod: 4,
	tagNameAndType: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2,
}

// constant is an entry of the constant pool: a text, or one or two indexes of other entries.
type constant struct {
	tag  byte
	a, b int
	text string
}

// pool are the constants of a class.
type pool []constant

// at returns the constant at an index if it has the tag, and the zero value if not.
func (p pool) at(i int, tag byte) constant {
	if i < len(p) && p[i].tag == tag {
		return p[i]
	}
	return constant{}
}

func (p pool) className(i int) string { return p.at(p.at(i, tagClass).a, tagUTF8).text }

// reader reads big-endian numbers and bytes. Behind the end everything is zero, and short is set.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if n > len(r.rest) {
		r.rest, r.short = nil, true
		return make([]byte, min(n, 8)) // no number is longer
	}
	taken := r.rest[:n:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) u2() int { return int(binary.BigEndian.Uint16(r.take(2))) }

// pool reads the constants. ok is false if one is of an unknown kind.
func (r *reader) pool() (p pool, ok bool) {
	p = make(pool, r.u2())
	for i := 1; i < len(p); i++ {
		k := constant{tag: r.take(1)[0]}
		size, ok := constantSizes[k.tag]
		if !ok || r.short {
			return nil, false
		}
		operands := append(r.take(size), 0, 0)
		k.a, k.b = int(binary.BigEndian.Uint16(operands)), int(binary.BigEndian.Uint16(operands[2:]))
		if k.tag == tagUTF8 {
			k.text = string(r.take(k.a))
		}
		p[i] = k
		if size == 8 {
			i++ // a long or a double takes two entries
		}
	}
	return p, !r.short
}

// parseClass reads a class file, which may be anybody's, up to its interfaces. ok is false if the bytes are no class
// file or end too early.
func parseClass(data []byte) (c class, ok bool) {
	r := reader{rest: data}
	if !bytes.Equal(r.take(4), []byte{0xca, 0xfe, 0xba, 0xbe}) {
		return c, false
	}
	r.take(4) // the version of the format
	p, ok := r.pool()
	if !ok {
		return c, false
	}
	r.take(2) // access flags
	c.name, c.super, c.texts = p.className(r.u2()), p.className(r.u2()), map[string]bool{}
	for _, k := range p {
		switch k.tag {
		case tagUTF8:
			c.texts[k.text] = true
		case tagMethod, tagInterfaceMethod:
			member := p.at(k.b, tagNameAndType)
			method, descriptor := p.at(member.a, tagUTF8).text, p.at(member.b, tagUTF8).text
			c.refersTo = append(c.refersTo, p.className(k.a)+"."+method+" "+descriptor)
		}
	}
	c.refersTo = append(c.refersTo, c.super+" extends")
	for range min(r.u2(), len(p)) {
		c.refersTo = append(c.refersTo, p.className(r.u2())+" implements")
	}
	return c, !r.short
}

var (
	// classKeywords are in every class file that has a finding.
	classKeywords = source.NewKeywords("grpc", "Grpc", "GRpc", "Triple$", "apache/dubbo", "akka/", "pekko/")
	// testReference is what the constants of tests begin with.
	testReference = lazyregexp.New(`^\(?L?(?:org/junit/|junit/framework/|org/testng/|org/scalatest/|munit/|` +
		`io/kotest/|io/grpc/testing/|kotlin/test/|org/specs2/)`)
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
	c, ok := parseClass(data)
	if !ok || c.isGenerated() || servingLibrary.MatchString(c.name) {
		return nil
	}
	result := &analyzer.Result[extra]{Built: true}
	for text := range c.texts {
		if testReference.MatchString(text) {
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

// isGenerated reports whether a class is generated for a service: it lies in the class that it extends, or Quarkus
// makes it for clients as well.
func (c class) isGenerated() bool {
	return strings.HasPrefix(c.super, outermost(c.name)+"$") ||
		slices.ContainsFunc(c.refersTo, func(i string) bool { return strings.HasSuffix(i, "/MutinyBean implements") })
}

// outermost returns the class in which a class lies and which lies in no other.
func outermost(name string) string {
	outer, _, _ := strings.Cut(name, "$")
	return outer
}

// findings returns what a class calls, extends, implements and is annotated with, each once.
func (c class) findings(entry string) []finding.Finding {
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
	for _, of := range c.refersTo {
		what, _, _ := strings.Cut(of, " ")
		add(c.proof(of, what), what)
	}
	for _, a := range annotations {
		if c.texts["L"+a.class+";"] {
			add(a.proves, "@"+a.class)
		}
	}
	return found
}

// proof returns what it proves that a class refers to something, nil for nothing.
func (c class) proof(of, what string) finding.Make {
	if proves := callFindings[what]; proves != nil {
		return proves
	}
	// Dubbo's protocols are chosen by name, and "tri" is that of Triple.
	if what == "org/apache/dubbo/config/ProtocolConfig.<init>" && c.texts["tri"] {
		return finding.Constructs(dubbo)
	}
	isWithIt := outermost(c.name) == outermost(what) || generatedCaller.MatchString(c.name)
	for _, r := range classRules {
		if r.reference.MatchString(of) && (!isWithIt || strings.HasSuffix(of, " extends")) {
			return r.proves
		}
	}
	return nil
}

// callFindings are the methods of libraries that prove something if a class calls them, as class.method.
var callFindings = callTable(append(libraryCalls, []callRule{
	{"io/grpc/Grpc", "newServerBuilderForPort", finding.Constructs(grpcJava)},
	{"higherkindness/mu/rpc/config/server/package$", "BuildServerFromConfig", finding.Constructs(muScala)},
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

// The methods of handlers that Akka gRPC and Pekko gRPC generate and of routers of Play, with a parameter that others
// with such names do not have: the actor system, or what is made of it.
const (
	handles = `Handler(\$|Factory)\.(apply|partial|withServerReflection|create\w*) .*L`
	routes  = `Router\.<init> .*L(akka|org/apache/pekko)/` + system
	system  = `(actor/(ClassicActorSystemProvider|ActorSystem)|stream/Materializer);`
	binds   = `(Fs2)?Grpc(Trailers)?\$\.bindService(Resource)? `
)

// classRules are generated classes to which a server, or the implementation of a service, refers. The first that
// matches holds. A service Health of another package than grpc.health.v1 may be another one.
var classRules = []struct {
	reference *lazyregexp.Regexp
	proves    finding.Make
}{
	{lazyregexp.New(`(^|/)health/v1/(\w+/)?Health` + binds), finding.RegistersHealth},
	{lazyregexp.New(`(^|/)health/v1/HealthGrpc(Kt)?\$Health\w*ImplBase extends`), finding.RegistersHealth},
	{lazyregexp.New(`(^|/)health/v1/Health` + handles + `(akka|org/apache/pekko)/` + system), finding.RegistersHealth},
	{lazyregexp.New(`(^|/)health/v1/AbstractHealth` + routes), finding.RegistersHealth},
	{lazyregexp.New(`(^|/)HealthGrpc(Kt)?\$Health\w*ImplBase extends`), finding.MayRegisterHealth},
	{lazyregexp.New(`(^|/)Health` + binds), finding.MayRegisterHealth},
	{lazyregexp.New(`(^|/)Health` + handles + `(akka|org/apache/pekko)/` + system), finding.MayRegisterHealth},
	{lazyregexp.New(`(^|/)AbstractHealth` + routes), finding.MayRegisterHealth},
	{lazyregexp.New(`Grpc(Kt)?\$\w+ImplBase extends`), finding.Implements(grpcJava)},
	{lazyregexp.New(`Triple\$\w+ImplBase extends`), exportsToDubbo},
	{lazyregexp.New(handles + `org/apache/pekko/` + system), finding.Constructs(pekkoGRPC)},
	{lazyregexp.New(handles + `akka/` + system), finding.Constructs(akkaGRPC)},
	{lazyregexp.New(`(^|/)Abstract\w+` + routes), finding.Serves(playGRPC)},
	{lazyregexp.New(`Fs2Grpc(Trailers)?\$\.bindService(Resource)? `), finding.Registers(fs2GRPC)},
	{lazyregexp.New(`Grpc\$\.bindService(Resource)? `), finding.Registers(grpcJava)},
	{lazyregexp.New(`^scalapb/zio_grpc/ServerMain implements`), finding.Constructs(zioGRPC)},
}
