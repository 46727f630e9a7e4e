package jvm

import (
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var (
	insecureCredentials = regexp.MustCompile(`\bInsecureServerCredentials\b`)
	tlsCredentials      = regexp.MustCompile(`\bTlsServerCredentials\s*\.\s*(?:create|newBuilder)\s*\(`)
	// otherCredentials depend on what is not in the source, or are neither plaintext nor TLS.
	otherCredentials = regexp.MustCompile(
		`\b(?:Xds|Alts|Choice|NettySslContext)\w*ServerCredentials\b|^(?:Xds|Alts)ServerBuilder`)
	httpsOnly = regexp.MustCompile(`\bHTTPS\b`)
	httpToo   = regexp.MustCompile(`\bHTTP\b`)
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
	return n.credentialsOf(given), true
}

var (
	// httpsContext is what gives bindAndHandle of akka-http and pekko-http TLS: its parameter in old versions, and what
	// makes the context of a connection.
	httpsContext = regexp.MustCompile(`\bhttpsContext\s*=|\bHttpsConnectionContext\b|\bConnectionContext\s*\.\s*https`)
	// httpContext is a context without TLS.
	httpContext   = regexp.MustCompile(`\bHttpConnectionContext\s*\(|\bConnectionContext\s*\.\s*noEncryption\b`)
	connectionArg = regexp.MustCompile(`^connectionContext\s*=`)
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

var localAddress = regexp.MustCompile(`\bLocalAddress\s*\(`)

// credentialsOf returns the security of credentials: by what the expression, or a value of its name, makes, and else by
// what all of the file makes.
func (n *names) credentialsOf(given source.Span) plan.Security {
	values := n.declared(given)
	if len(values) == 0 {
		values = []source.Span{given}
	}
	var code strings.Builder
	for _, v := range values {
		code.WriteString(n.text.Slice(v) + "\n")
	}
	says, known := n.madeBy([]byte(code.String()))
	if !known {
		says, known = n.madeBy(n.text.Code)
	}
	if !known {
		says.Setting = n.credentialsDecider(values)
	}
	return says
}

// madeBy returns the security of the credentials that code makes. known is false if it makes none, or several.
func (n *names) madeBy(code []byte) (says plan.Security, known bool) {
	insecure, tls := insecureCredentials.Match(code), tlsCredentials.Match(code)
	switch {
	case otherCredentials.Match(code) || insecure == tls:
		return plan.Security{}, false
	case insecure:
		return plan.Security{Transport: plan.Plaintext}, true
	}
	return n.transport(), true
}

// credentialsDecider returns the setting that chooses between credentials: in their values, or where the file makes
// those with TLS.
func (n *names) credentialsDecider(values []source.Span) string {
	for _, v := range values {
		if one := n.values().Decider(v); one != "" {
			return one
		}
	}
	for _, m := range n.text.FindAll(tlsCredentials, 1) {
		return n.values().OnlyDecider(n.values().ConditionsAround(m[0], 0))
	}
	return ""
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
