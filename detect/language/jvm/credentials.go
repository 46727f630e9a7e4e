package jvm

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var (
	insecureCredentials = lazyregexp.New(`\bInsecureServerCredentials\b`)
	tlsCredentials      = lazyregexp.New(`\bTlsServerCredentials\s*\.\s*(?:create|newBuilder)\s*\(`)
	// otherCredentials depend on what is not in the source, or are neither plaintext nor TLS.
	otherCredentials = lazyregexp.New(
		`\b(?:Xds|Alts|Choice|NettySslContext)\w*ServerCredentials\b|^(?:Xds|Alts)ServerBuilder`)
	httpsOnly = lazyregexp.New(`\bHTTPS\b`)
	httpToo   = lazyregexp.New(`\bHTTP\b`)
)

// credentials returns what the credentials say that a call takes beside an address. ok is false for a call without.
func (n *names) credentials(call listenCall) (says plan.Security, ok bool) {
	switch {
	case otherCredentials.MatchString(call.name), n.isInProcess(call),
		call.name == serverHost && len(call.arguments) > 2: // a factory of the app's own makes the server
		return plan.Security{}, true
	case call.name == "https" || call.name == "toHostHttps":
		return n.transport(), true
	case call.name == "port" || call.name == "localPort":
		return n.armeriaSecurity(call)
	case strings.HasPrefix(call.name, "bindAndHandle"):
		return n.connectionSecurity(call)
	case !strings.HasPrefix(call.name, "newServerBuilder") && !strings.Contains(call.name, "ServerBuilder"),
		strings.HasPrefix(call.name, "Vertx"), len(call.arguments) < 2:
		return plan.Security{}, false
	}
	given := call.arguments[len(call.arguments)-1]
	return n.credentialsOf(given, call.at), true
}

var (
	// httpsContext is what gives bindAndHandle of akka-http and pekko-http TLS: its parameter in old versions, and what
	// makes the context of a connection.
	httpsContext = lazyregexp.New(`\bhttpsContext\s*=|\bHttpsConnectionContext\b|\bConnectionContext\s*\.\s*https`)
	// httpContext is a context without TLS.
	httpContext   = lazyregexp.New(`\bHttpConnectionContext\s*\(|\bConnectionContext\s*\.\s*noEncryption\b`)
	connectionArg = lazyregexp.New(`^connectionContext\s*=`)
)

// connectionSecurity returns what the context of the connections says that bindAndHandle of akka-http and pekko-http
// is given. ok is false for a call without one.
func (n *names) connectionSecurity(call listenCall) (says plan.Security, ok bool) {
	for _, s := range call.arguments {
		argument := s
		argument.From += len(argumentName.FindString(n.text.Slice(s)))
		for _, value := range append(n.declared(argument), s) {
			switch code := n.text.Code[value.From:value.To]; {
			case httpsContext.Match(code):
				return n.transport(), true
			case httpContext.Match(code):
				return plan.Security{Transport: plan.Plaintext}, true
			}
		}
		ok = ok || connectionArg.MatchString(n.text.Slice(s))
	}
	return says, ok
}

// isInProcess reports whether a call listens where no other process calls: on a channel of Netty within the process.
func (n *names) isInProcess(call listenCall) bool {
	for _, s := range call.arguments {
		for _, value := range append(n.declared(s), s) {
			if localAddress.Match(n.text.Code[value.From:value.To]) {
				return true
			}
		}
	}
	return false
}

var localAddress = lazyregexp.New(`\bLocalAddress\s*\(`)

// javaCredentials are those of grpc-java.
var javaCredentials = analyzer.Credentials{Plaintext: insecureCredentials, TLS: tlsCredentials}

// credentialsOf returns the security of credentials: by what the expression, and the values of its names, make, and
// else by what all of the file makes.
func (n *names) credentialsOf(given source.Span, at int) plan.Security {
	says := javaCredentials.Of(n.values(), given, at)
	insecure, tls := insecureCredentials.Match(n.text.Code), tlsCredentials.Match(n.text.Code)
	switch {
	case otherCredentials.Match(n.text.Code):
		return plan.Security{}
	case says.IsTLS(), says == plan.Security{} && tls && !insecure:
		return n.transport()
	case says == plan.Security{} && insecure && !tls:
		says.Transport = plan.Plaintext
	}
	return says
}

// armeriaSecurity returns what the protocols of a port of Armeria say. ok is false for a port of another server.
func (n *names) armeriaSecurity(call listenCall) (says plan.Security, ok bool) {
	switch transport := n.armeriaTransport(call); {
	case transport == plan.TLS:
		return n.transport(), true
	case transport == plan.Plaintext, len(call.arguments) == 1:
		return plan.Security{Transport: transport}, transport != plan.UnknownTransport
	}
	return plan.Security{}, true
}

// armeriaTransport returns the transport that the protocols of a port of Armeria say: one with both takes plaintext.
func (n *names) armeriaTransport(call listenCall) plan.Transport {
	if call.name != "port" && call.name != "localPort" || len(call.arguments) < 2 {
		return plan.UnknownTransport
	}
	protocols := source.Span{From: call.arguments[1].From, To: call.arguments[len(call.arguments)-1].To}
	switch code := n.text.Code[protocols.From:protocols.To]; {
	case httpToo.Match(code):
		return plan.Plaintext
	case httpsOnly.Match(code):
		return plan.TLS
	}
	return plan.UnknownTransport
}
