package jvm

import (
	"regexp"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// listenCall is a call whose arguments say where a server listens.
var listenCall = regexp.MustCompile(
	`\b(?:(?:Netty|OkHttp|Xds|Alts|Vertx)?ServerBuilder\s*\.\s*(?:forPort|forAddress)|newServerBuilderForPort|` +
		`GrpcServers\s*\.\s*(?:forPort|forAddress)|new\s+ProtocolConfig)\s*\(`)

// frameworkCalls are further calls of that kind, in files that make a server of a framework: a call with such a name
// may be anything elsewhere.
var frameworkCalls = map[string]*regexp.Regexp{
	vertx:       regexp.MustCompile(`\.\s*(?:listen|setPort)\s*\(`),
	armeria:     regexp.MustCompile(`\.\s*(?:https?|port|localPort)\s*\(`),
	helidon:     regexp.MustCompile(`\.\s*port\s*\(`),
	akkaGRPC:    regexp.MustCompile(`\b(?:newServerAt|bindAndHandle\w*|toHost|toHostHttps)\s*\(`),
	pekkoGRPC:   regexp.MustCompile(`\b(?:newServerAt|bindAndHandle\w*|toHost|toHostHttps)\s*\(`),
	grpcServlet: regexp.MustCompile(`\bnew\s+Server\s*\(|\.\s*(?:setPort|addHttpListener|addHttpsListener)\s*\(`),
}

// ends are the bytes that end a declaration, by the extension of the source.
var ends = map[string]string{".java": ";", ".kt": "\n;", ".scala": "\n;"}

// typeOf is the type behind the name of a number or a text.
const typeOf = `\s*(?::\s*(?:Int|Integer|String|Short|Long)\??\s*)?`

// How a name gets its value.
var (
	assignments = []*regexp.Regexp{
		// int port = 1; val port: Int = 1
		regexp.MustCompile(`\b(?P<name>[A-Za-z_]\w*)` + typeOf + `=\s*(?:[^=\s])??`),
		// A constant is also reached through its class.
		regexp.MustCompile(`\b(?P<field>[A-Z][A-Z0-9_]*)` + typeOf + `=\s*(?:[^=\s])??`),
	}
	// continued is a value that goes on in the next line, which begins with an operator.
	continued = regexp.MustCompile(
		`\b(?P<name>[A-Za-z_]\w*)` + typeOf + `=(?P<value>[^=;\n][^;\n]*(?:\n\s*(?:\?[.:]|\.)[^;\n]*)+)`)
	// delegated is val port by option().int().default(1), of Clikt and kotlinx-cli.
	delegated = regexp.MustCompile(`\bva[lr]\s+(?P<name>[A-Za-z_]\w*)` + typeOf + `\sby\s+`)
	// annotated is @Value("${grpc.port:1}") int port, of Spring and Micronaut, or has picocli's or MicroProfile's
	// defaultValue.
	annotated = regexp.MustCompile(`@(?:[\w.]+\.)?(?:field:)?(?:Value|Option|Parameters?|ConfigProperty|Property)\s*` +
		`\((?P<value>[^()]*)\)\s*(?:@\w+\s+)*(?:\w+\s+)*?(?:(?:int|short|Integer|String|lateinit\s+var|va[lr])\s+)` +
		`(?P<name>[A-Za-z_]\w*)`)
	// declarations are those that each language has, by the extension of the source.
	declarations = map[string][]*regexp.Regexp{
		".java":  append(slices.Clone(assignments), annotated),
		".kt":    append(slices.Clone(assignments), annotated, continued, delegated),
		".scala": append(slices.Clone(assignments), annotated, continued),
	}
)

// listeners returns the port of each call that says where a server listens.
func listeners(p *ports, found []analyzer.Finding) []analyzer.Finding {
	calls := listenCalls(p.text, found)
	zio := zioPort(p, found)
	if len(calls) == 0 && zio == nil {
		return nil
	}
	var all []analyzer.Finding
	for _, arguments := range calls {
		all = append(all, p.listener(arguments))
	}
	if len(calls) == 0 {
		all = append(all, zio())
	}
	return all
}

// listenCalls returns the arguments of the calls that say where a server listens. A call without arguments, or with
// what is to be done when the server listens, says nothing.
func listenCalls(t *source.Text, found []analyzer.Finding) [][]source.Span {
	patterns := []*regexp.Regexp{listenCall}
	seen := map[string]bool{}
	for _, f := range found {
		if p := frameworkCalls[f.Framework]; p != nil && !seen[f.Framework] && f.Kind != analyzer.ServiceImplemented {
			seen[f.Framework] = true
			patterns = append(patterns, p)
		}
	}
	var calls [][]source.Span
	for _, p := range patterns {
		for _, m := range t.FindAll(p, address.MaxListeners) {
			each, _ := t.Arguments(m[1])
			if first := t.Slice(each[0]); first != "" && !callback.MatchString(first) {
				calls = append(calls, each)
			}
		}
	}
	return calls
}

// callback is a function as an argument.
var callback = regexp.MustCompile(`^\(?[\w\s,:]*\)?\s*[-=]>|^\{|::`)

var (
	zioMain = regexp.MustCompile(`\b(?:extends|with)\s+(?:\w+\.)?ServerMain\b`)
	// ownPort is the port of such a server: override def port: Int = 8980.
	ownPort = regexp.MustCompile(`\b(?:def|val)\s+port` + typeOf + `=\s*`)
)

// zioDefault is the port of ServerMain of ZIO gRPC (zio-grpc: ServerMain.scala).
const zioDefault = 9000

// zioPort returns the function that gives the port of a ServerMain of ZIO gRPC. It is nil in files without one.
func zioPort(p *ports, found []analyzer.Finding) func() analyzer.Finding {
	isZIO := func(f analyzer.Finding) bool {
		return f.Framework == zioGRPC && f.Kind == analyzer.ServerConstructed
	}
	if !slices.ContainsFunc(found, isZIO) {
		return nil
	}
	at := zioMain.FindIndex(p.text.Code)
	if at == nil {
		return nil
	}
	return func() analyzer.Finding {
		if m := p.text.FindAll(ownPort, 1); m != nil {
			return p.listener([]source.Span{{From: m[0][1], To: p.text.Until(m[0][1], ends[p.ext])}})
		}
		return analyzer.NewListener(p.text, address.Port{Number: zioDefault, At: at[0]})
	}
}
