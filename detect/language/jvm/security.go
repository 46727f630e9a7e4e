package jvm

import (
	"bytes"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var (
	// tlsCall is a call that gives a server TLS, in any file with gRPC: of grpc-java's builders, whose clients have the
	// same names without arguments or on a channel's builder.
	tlsCall = lazyregexp.New(onBuilder + `(?:useTransportSecurity\s*\(\s*[^)\s]|sslContext\s*\(|` +
		`(?:p|setP)rotocolNegotiator\s*\(\s*[^)\s])|\bGrpcSslContexts\s*\.\s*forServer\s*\(`)
	// negotiator gives a builder what begins its connections: TLS, the PROXY protocol, or both on one port
	// (NettyServerBuilder.java, InternalNettyServerBuilder.java).
	negotiator = lazyregexp.New(`^\W*(?:p|setP)rotocolNegotiator\b`)
	// frameworkTLS are such calls of the frameworks, in files that make a server of them.
	frameworkTLS = map[string]*lazyregexp.Regexp{
		muScala:     lazyregexp.New(`\b(?:UseTransportSecurity|SetSslContext)\s*\(`),
		vertx:       lazyregexp.New(onBuilder + `(?:setSsl\s*\(|(?:isS|s)sl\s*=)\s*`),
		serviceTalk: lazyregexp.New(`\.\s*sslConfig\s*\(`),
		helidon:     lazyregexp.New(`\.\s*(?:tls|tlsConfig)\s*\(`),
		akkaGRPC:    enableHTTPS,
		pekkoGRPC:   enableHTTPS,
		grpcServlet: lazyregexp.New(`\baddHttpsListener\s*\(|\bSslConnectionFactory\s*\(|\.\s*setSSLEnabled\s*\(`),
		dubbo:       lazyregexp.New(`\.\s*(?:setSslEnabled|sslEnabled)\s*\(`),
	}
	enableHTTPS = lazyregexp.New(`\.\s*enableHttps\s*\(`)

	// requiresClient is what makes a server refuse a client without a certificate, in grpc-java and Netty, Vert.x,
	// ServiceTalk, Helidon and the JDK.
	requiresClient = lazyregexp.New(`\b(?:Ssl|Tls)?ClientAuth(?:Mode)?\s*\.\s*REQUIRED?\b|` +
		`\bclientAuth\s*\(\s*REQUIRED?\b|\bsetNeedClientAuth\s*\(\s*true\b|\bwithNeedClientAuthentication\s*\(`)
	channelBuilder = lazyregexp.New(`\w*Channel(?:Builder)?\b`)
	// useTransportSecurity has arguments on a server's builder alone, and so has a name of its own.
	useTransportSecurity = lazyregexp.New(`^\W*useTransportSecurity\b`)
	serverBuilder        = lazyregexp.New(`\w*ServerBuilder\b`)
	certificates         = lazyregexp.New(`\b(?:useTransportSecurity|TlsServerCredentials\s*\.\s*create|` +
		`keyManager|(?:GrpcSslContexts|SslContextBuilder)\s*\.\s*forServer)\s*\(`)
	authorities = lazyregexp.New(`\btrustManager\s*\(`)
	newFile     = lazyregexp.New(`^(?:new\s+)?(?:File|FileInputStream)\s*\(`)
)

// security returns what a source says of the security of the server that it makes, or configures; nothing if it says
// nothing.
func security(n *names, found []finding.Finding) []finding.Finding {
	calls := n.calls(found)
	var all []finding.Finding
	state := func(at int, says plan.Security) {
		all = append(all, finding.SecurityAt(n.text.Line(at), says))
	}
	for _, m := range n.tlsCalls(found) {
		state(m[0], n.tls(m, calls))
	}
	if len(all) > 0 {
		return all
	}
	for _, call := range calls {
		if says, ok := n.credentials(call); ok {
			if conditions := n.excluding(call.at, calls); says.IsTLS() && len(conditions) > 0 {
				says = plan.Security{Setting: n.values().OnlyDecider(conditions)}
			}
			state(call.at, says)
		}
	}
	for framework := range frameworksOf(found) {
		if given := givenOptions[framework]; given != nil && len(all) == 0 {
			all = append(all, n.unknownOptions(given)...)
		}
	}
	if len(all) == 0 {
		return n.handed()
	}
	return all
}

// handsOn is a call of a method that is named for TLS, or of an object or a class that is.
var handsOn = lazyregexp.New(
	`\b(?:\w*(?i:tls|ssl|secur|credential|certificate)\w*\s*\.\s*\w+|` +
		`\w+\s*\.\s*\w*(?i:tls|ssl|secur|credential|certificate)\w*)\s*\(\s*(?P<builder>\w+)\s*[,)]`)

// handed returns where the builder of a server is handed on to something that may give it TLS.
func (n *names) handed() []finding.Finding {
	var found []finding.Finding
	if !bytes.Contains(n.text.Code, []byte("ServerBuilder")) {
		return nil // the pattern takes long
	}
	for _, m := range n.text.FindAll(handsOn, maxMembers) {
		for _, value := range n.declared(source.Span{From: m[2], To: m[3]}) {
			if serverBuilder.MatchString(n.text.Slice(value)) {
				found = append(found, builderHanded{Site: finding.AtLine(n.text.Line(m[0]), "")})
				break
			}
		}
	}
	return found
}

// givenOptions are where a server gets options, or is put into another server, which the file may not show.
var givenOptions = map[string]*lazyregexp.Regexp{
	vertx:       lazyregexp.New(`\bcreateHttpServer\s*\(\s*(?P<options>[^)\s])`),
	grpcServlet: lazyregexp.New(`\b(?P<options>GrpcServlet|ServletServerBuilder)\b`),
	armeria:     lazyregexp.New(`\b(?P<options>ServerBuilder)\s+\w+\s*[=,)]`),
}

// unknownOptions returns a security that is not known if the file does not show the options of a server.
func (n *names) unknownOptions(given *lazyregexp.Regexp) []finding.Finding {
	m := n.text.FindAll(given, 1)
	if len(m) == 0 || n.text.Matches(shownOptions) {
		return nil
	}
	return []finding.Finding{finding.Security{Site: finding.AtLine(n.text.Line(m[0][0]), "")}}
}

// shownOptions are options of Vert.x that a file makes, and servers that it puts servlets or services into. Those of
// Spring have their options in the settings.
var shownOptions = lazyregexp.New(`\bHttpServerOptions\s*\(|\bnew\s+(?:Server|Tomcat)\s*\(|\bUndertow\b|` +
	`\bServer\s*\.\s*builder\s*\(|\bArmeriaServerConfigurator\b`)

// tlsCalls returns the calls that give a server TLS. Those that make an SslContext count if no builder takes one.
func (n *names) tlsCalls(found []finding.Finding) [][]int {
	var builders, contexts [][]int
	isWrapper := n.text.Matches(wrapper)
	for _, m := range n.text.FindAll(tlsCall, maxMembers) {
		switch m[0] += len(blockBegins.Find(n.text.Code[m[0]:])); {
		case n.text.Code[m[0]] == 'G':
			contexts = append(contexts, m)
		case !isWrapper && n.mayBeServers(m[0]):
			builders = append(builders, m)
		}
	}
	for framework := range frameworksOf(found) {
		if p := frameworkTLS[framework]; p != nil {
			for _, m := range n.text.FindAll(p, maxMembers) {
				m[0] += len(blockBegins.Find(n.text.Code[m[0]:]))
				builders = append(builders, m)
			}
		}
	}
	if len(builders) == 0 {
		return contexts
	}
	return builders
}

// blockBegins is what goes before a call in a block of Kotlin, which no object stands before.
var blockBegins = lazyregexp.New(`^[{;\s]+`)

// wrapper is a builder of the app's own, which hands on what another builder is given.
var wrapper = lazyregexp.New(`\b(?:fun|def|[\w>]+)[ \t]+useTransportSecurity\s*\(`)

// mayBeServers reports whether a call may configure a server, and no client: it stands in a chain that begins with a
// server's builder, or in a file that has one, or its name is the server's alone.
func (n *names) mayBeServers(at int) bool {
	statement := n.text.Code[n.text.Statement(at, ends[n.ext]):at]
	switch {
	case serverBuilder.Match(statement):
		return true
	case channelBuilder.Match(statement):
		return false
	}
	return useTransportSecurity.Match(n.text.Code[at:]) || n.text.Matches(serverBuilder)
}

// tls returns what a call says that gives a server TLS, which calls make, or one of them on a condition.
func (n *names) tls(match []int, calls []listenCall) plan.Security {
	t := n.text
	if negotiator.Match(t.Code[match[0]:]) {
		return plan.Security{}
	}
	argument := source.Span{From: match[1], To: t.Until(match[1], ends[n.ext]+",")}
	says := n.transport()
	switch t.Slice(t.Trim(argument)) {
	case "false":
		return plan.Security{Transport: plan.Plaintext}
	case "true":
	default:
		if switches.Match(t.Code[match[0]:match[1]]) {
			return plan.Security{Setting: n.values().Decider(argument)}
		}
	}
	if !useTransportSecurity.Match(t.Code[match[0]:]) && t.Matches(channelBuilder) && n.isUnclear(match[0]) {
		return plan.Security{}
	}
	serverAt := 0
	if len(calls) > 0 {
		serverAt = calls[0].at
	}
	conditions := slices.Concat(n.values().ConditionsAround(match[0], serverAt), n.excluding(match[0], calls),
		n.values().ConditionsOfFunction(match[0], serverAt))
	if len(conditions) > 0 {
		return plan.Security{Setting: n.values().OnlyDecider(conditions)}
	}
	return says
}

// isUnclear reports whether a call may be a client's as well, in a file that has builders of both.
func (n *names) isUnclear(at int) bool {
	statement := n.text.Code[n.text.Statement(at, ends[n.ext]):at]
	return n.text.Code[at] != 'G' && !serverBuilder.Match(statement)
}

// switches is a call whose argument says whether there is TLS.
var switches = lazyregexp.New(`setSsl|[sS]sl\s*=|[sS]slEnabled|setSSLEnabled`)

// transport returns TLS as the file configures it.
func (n *names) transport() plan.Security {
	says := plan.Security{Transport: plan.TLS, Certificate: n.file(certificates)}
	for _, m := range n.text.FindAll(requiresClient, 1) {
		says.Transport, says.Authority = plan.MutualTLS, n.file(authorities)
		if conditions := n.values().ConditionsAround(m[0], 0); len(conditions) > 0 {
			says.Transport, says.Authority = plan.TLS, "" // TLS in any case
		}
	}
	return says
}

// file returns the file that the first call of a pattern reads, "" if it is not known.
func (n *names) file(call *lazyregexp.Regexp) string {
	m := n.text.FindAll(call, 1)
	if len(m) == 0 {
		return ""
	}
	s, ok := n.text.Argument(m[0][1], 0)
	if !ok {
		return ""
	}
	for _, value := range append(n.declared(s), s) {
		if f := newFile.FindIndex(n.text.Code[value.From:value.To]); f != nil {
			s, _ = n.text.Argument(value.From+f[1], 0)
		}
	}
	return n.literal(s)
}
