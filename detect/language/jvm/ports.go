package jvm

import (
	"iter"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// networkCall is a call whose arguments say where a server listens.
var networkCall = lazyregexp.New(
	`\b(?P<name>(?:Netty|OkHttp|Xds|Alts|Vertx)?ServerBuilder\s*\.\s*(?:forPort|forAddress)|newServerBuilderForPort|` +
		`GrpcServers\s*\.\s*(?:forPort|forAddress)|new\s+ProtocolConfig|GrpcServerHost)\s*\(`)

// frameworkCalls are further calls of that kind, in files that make a server of a framework: a call with such a name
// may be anything elsewhere.
var frameworkCalls = map[string]*lazyregexp.Regexp{
	muScala:     lazyregexp.New(`\bGrpcServer\s*\.\s*(?P<name>default|defaultServer|netty)\s*(?:\[[^\]]*\]\s*)?\(`),
	vertx:       lazyregexp.New(`\.\s*(?P<name>listen|setPort)\s*\(`),
	armeria:     lazyregexp.New(onBuilder + `(?P<name>https?|port|localPort)\s*\(`),
	helidon:     lazyregexp.New(onBuilder + `(?P<name>port)\s*\(`),
	akkaGRPC:    lazyregexp.New(`\b(?P<name>newServerAt|bindAndHandle\w*|toHost|toHostHttps)\s*\(`),
	pekkoGRPC:   lazyregexp.New(`\b(?P<name>newServerAt|bindAndHandle\w*|toHost|toHostHttps)\s*\(`),
	grpcServlet: lazyregexp.New(`(?:\bnew\s+|\.\s*)(?P<name>Server|setPort|addHttpListener|addHttpsListener)\s*\(`),
}

// onBuilder stands before a call of a builder, which Kotlin leaves out in blocks such as apply { http(8080) }.
const onBuilder = `(?:\.\s*|[{;\n][ \t]*)`

// listenCall is a call that says where a server listens.
type listenCall struct {
	name      string // the method, and the class if the pattern has it
	at        int
	arguments []source.Span
}

// listeners returns what each call says about where a server listens.
func listeners(n *names, found []finding.Finding) []finding.Finding {
	var all []finding.Finding
	for _, call := range n.calls(found) {
		all = append(all, finding.ListenerAt(n.address(call)))
	}
	if len(all) == 0 {
		return zioListener(n, found)
	}
	return all
}

// calls returns the calls that say where a server listens, by their patterns and places. A call without arguments, or
// with what is to be done when the server listens, says nothing.
func (n *names) calls(found []finding.Finding) []listenCall {
	patterns := []*lazyregexp.Regexp{networkCall}
	for framework := range frameworksOf(found) {
		if p := frameworkCalls[framework]; p != nil {
			patterns = append(patterns, p)
		}
	}
	var calls []listenCall
	for _, p := range patterns {
		for _, m := range n.text.FindAll(p, address.MaxListeners) {
			each, _ := n.text.Arguments(m[1])
			if first := n.text.Slice(each[0]); first != "" && !callback.MatchString(first) {
				name, _ := n.text.Group(p, m, "name")
				calls = append(calls, listenCall{name, m[0], each})
			}
		}
	}
	return preferred(calls, n)
}

// preferred returns the calls of Armeria's that gRPC is reached by most easily: its server takes gRPC on any of its
// ports, so those without TLS do, unless the server has one of two ports.
func preferred(calls []listenCall, n *names) []listenCall {
	needsTLS := func(c listenCall) bool {
		return c.name != "http" && n.armeriaTransport(c) != plan.Plaintext && len(n.excluding(c.at, calls)) == 0
	}
	if plain := slices.DeleteFunc(slices.Clone(calls), needsTLS); len(plain) > 0 {
		return plain
	}
	return calls
}

// excluding returns the conditions by which code at an offset runs, or one of the calls.
func (n *names) excluding(at int, calls []listenCall) []source.Span {
	var all []source.Span
	for _, call := range calls {
		all = append(all, n.values().Excluding(at, call.at)...)
	}
	return all
}

// frameworksOf yields the frameworks of the servers and registrations among findings, each of them once.
func frameworksOf(found []finding.Finding) iter.Seq[string] {
	return func(yield func(string) bool) {
		seen := map[string]bool{"": true}
		for _, f := range found {
			framework := finding.FrameworkOf(f)
			if of, ok := f.(handlerCalled); ok {
				framework = of.framework
			}
			if _, implements := f.(finding.Implementation); implements || seen[framework] {
				continue
			}
			if seen[framework] = true; !yield(framework) {
				return
			}
		}
	}
}

// callback is a function as an argument.
var callback = lazyregexp.New(`^\(?[\w\s,:]*\)?\s*[-=]>|^\{|::`)

var (
	zioMain = lazyregexp.New(`\b(?:extends|with)\s+(?:\w+\.)?ServerMain\b`)
	// ownPort is the port of such a server: override def port: Int = 8980.
	ownPort = lazyregexp.New(`\b(?:def|val)\s+port` + typeOf + `=\s*`)
)

// zioListener returns the listener of a ServerMain of ZIO gRPC, none for a file without one.
func zioListener(n *names, found []finding.Finding) []finding.Finding {
	at := zioMain.FindIndex(n.text.Code)
	isZIO := func(f finding.Finding) bool { return finding.FrameworkOf(f) == zioGRPC }
	if at == nil || !slices.ContainsFunc(found, isZIO) {
		return nil
	}
	if m := n.text.FindAll(ownPort, 1); m != nil {
		port := source.Span{From: m[0][1], To: n.text.Until(m[0][1], ends[n.ext])}
		v := n.argument([]source.Span{port})
		v.Host = address.AllInterfaces
		return []finding.Finding{finding.ListenerAt(v)}
	}
	return analyzer.DefaultListener(frameworks, zioGRPC, n.text.Line(at[0]))
}

// argument returns the address of a server that listens where the arguments of a call say: that of the first argument
// that states one, because a host may stand before it and credentials after it. What other files say of any of them
// goes before a default.
func (n *names) argument(arguments []source.Span) address.Value {
	var v address.Value
	for i, at := range arguments {
		of := n.values().Value(at)
		if i == 0 || v.Certainty == address.Unknown && of.Certainty != address.Unknown {
			v.Address = of.Address
		}
		v.Outside = v.Outside || of.Outside
		v.Names = append(v.Names, of.Names...)
		v.Givers = append(v.Givers, of.Givers...)
	}
	if v.Certainty == address.Unknown && len(v.Names)+len(v.Givers) == 0 {
		return n.values().Nothing(arguments[0].From)
	}
	return v
}

var startsWithCapital = lazyregexp.New(`^[A-Z]`)

var simpleName = lazyregexp.New(`^[a-zA-Z_]\w*$`)
