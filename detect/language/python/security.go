package python

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// grpcCredentials are the functions of grpcio that make the credentials of a server
// (src/python/grpcio/grpc/__init__.py). Clients have to show a certificate if the argument require_client_auth is true.
var grpcCredentials = analyzer.Credentials{
	Plaintext: lazyregexp.New(`\binsecure_server_credentials\s*\(`),
	TLS:       lazyregexp.New(`\b(?:dynamic_)?ssl_server_credentials\s*\(`),
	Asks: func(t *source.Text, arguments int) bool {
		asks, _ := t.Argument(arguments, 2, "require_client_auth", "require_client_authentication")
		return t.Slice(asks) == "True"
	},
}

// sslContext are the contexts of Python's module ssl, which grpclib (grpclib/server.py) and purerpc
// (src/purerpc/server.py) take.
var sslContext = analyzer.Credentials{
	Plaintext: lazyregexp.New(`^None$`),
	TLS:       lazyregexp.New(`\b(?:SSLContext|create_default_context)\s*\(`),
	Requires:  lazyregexp.New(`\bverify_mode\s*=\s*(?:ssl\.)?CERT_REQUIRED\b`),
}

// anyTLS are certificates that a framework takes: with any there is TLS. Those of Flower ask for none of clients
// (src/py/flwr/server/superlink/fleet/grpc_bidi/grpc_server.py), those of Arrow Flight by verify_client
// (python/pyarrow/_flight.pyx).
var anyTLS = analyzer.Credentials{
	Plaintext: lazyregexp.New(`^None$`),
	TLS:       lazyregexp.New(`^[(\[]\s*\S|\bread(?:_bytes)?\(`),
}

// securityArgument is an argument, by its position or its name, that says what the security is.
type securityArgument struct {
	call *lazyregexp.Regexp
	// module has to occur in the code, if there is one.
	module      *lazyregexp.Regexp
	position    int
	keyword     string
	credentials analyzer.Credentials
	// isPlaintext says that a call with other arguments, and without this one, is one without TLS.
	isPlaintext bool
}

var securityArguments = []securityArgument{
	{
		lazyregexp.New(`\.\s*add_secure_port\s*\(`), nil, 1, "server_credentials",
		grpcCredentials, false,
	},
	{lazyregexp.New(`\.\s*start\s*\(`), lazyregexp.New(`\bgrpclib\b`), -1, "ssl", sslContext, true},
	{lazyregexp.New(`\bServer\s*\(`), lazyregexp.New(`\bpurerpc\b`), 1, "ssl_context", sslContext, false},
	{lazyregexp.New(`\bstart_server\s*\(`), lazyregexp.New(`\bflwr\b`), -1, "certificates", anyTLS, false},
	{
		lazyregexp.New(`\b__init__\s*\(`), lazyregexp.New(`\bFlightServerBase\b`), -1, "tls_certificates",
		anyTLS, false,
	},
}

var insecurePort = lazyregexp.New(`\.\s*add_insecure_port\s*\(`)

// security returns what a source says of the security of each of its servers, which the calls are made on.
func security(t *source.Text, names func() *address.Names, servers *servers) []finding.Finding {
	stated := map[*finding.Site][]analyzer.Stated{}
	var order []*finding.Site
	add := func(at int, says ...analyzer.Stated) {
		servers.each(at, func(of *finding.Site) {
			if stated[of] == nil {
				order = append(order, of)
			}
			stated[of] = append(stated[of], says...)
		})
	}
	for _, m := range t.FindAll(insecurePort, address.MaxListeners) {
		add(m[0], analyzer.Stated{At: m[0], Says: plan.Security{Transport: plan.Plaintext}})
	}
	for _, a := range securityArguments {
		for _, m := range t.FindAll(a.call, address.MaxListeners) {
			if a.module != nil && !t.Matches(a.module) {
				break
			}
			isSpread := func(s source.Span) bool { return strings.HasPrefix(t.Slice(s), "*") }
			where, ok := t.Argument(m[1], a.position, a.keyword)
			all, _ := t.Arguments(m[1])
			switch {
			case ok && !isSpread(where):
				add(m[0], a.credentials.In(names(), where)...)
			case slices.ContainsFunc(all, isSpread):
				add(m[0], analyzer.Stated{At: m[0]})
			case a.isPlaintext && len(all) > 0:
				add(m[0], analyzer.Stated{At: m[0], Says: plan.Security{Transport: plan.Plaintext}})
			}
		}
	}
	var found []finding.Finding
	for _, of := range order {
		found = append(found, analyzer.StatedSecurity(names(), stated[of], of))
	}
	return found
}
