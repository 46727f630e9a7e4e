package dart

import (
	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	serveCall   = lazyregexp.New(`\.\s*serve\s*\(`)
	unixSocket  = lazyregexp.New(`\bInternetAddress\s*\(\s*['"](?P<path> *)['"][^;]*?\bInternetAddressType\.unix\b`)
	declaration = lazyregexp.New(`\b(?:final|const)\s+(?:(?:[A-Z]\w*|int)\??\s+)?(?P<name>\w+)\s*=\s+`)
	// variable may be a field, which other files may set to another value.
	variable = lazyregexp.New(`\b(?:var|int|String|late(?:\s+\w+\??)?)\s+(?P<name>\w+)\s*=\s+`)
	// assignment is another value of a variable.
	assignment = lazyregexp.New(`(?m)(?:^|[;)]|\{\s)\s*(?P<name>\w+)\s*=\s+`)
	// option is an option of an ArgParser with a default, read from the results as an element.
	option = lazyregexp.New(`\.addOption\s*\(\s*['"](?P<name> *)['"][^;()]{0,400}?\bdefaultsTo\s*:\s*`)
	// argumentName is the name of an argument. A call without names is the serve of another package, such as shelf.
	argumentName = lazyregexp.New(`^\w+\s*:`)
)

// transports are the transports of servers (lib/src/server/server.dart). Local credentials have no TLS.
var transports = []analyzer.Rule{
	{Code: lazyregexp.New(`\bServerTlsCredentials\s*\(`), Proves: finding.UsesTLS},
	{Code: lazyregexp.New(`\bServerLocalCredentials\s*\(|\bsecurity\s*:\s*null\b`), Proves: finding.Insecure},
	{Code: lazyregexp.New(`\.\s*serve\s*\([^;]*?\bsecurity\s*:\s*(?P<at>[a-z]\w*)`), Proves: givenCredentials},
}

// givenCredentials is the finding of a name for credentials, none for null.
func givenCredentials(at *finding.Site, code string) finding.Finding {
	if code == "null" {
		return nil
	}
	return finding.UsesOther(at.Quiet(), code)
}

func namesIn(t *source.Text) *address.Names {
	names := address.Read(t, ";,", declaration, assignment)
	for _, m := range t.FindAll(variable, -1) {
		name, _ := t.Group(variable, m, "name")
		names.DeclareOption(name, "", source.Span{From: m[1], To: t.Until(m[1], ";,")})
	}
	for _, m := range t.FindAll(option, -1) {
		name, _ := t.Group(option, m, "name")
		names.DeclareOption(address.Field(name), "", source.Span{From: m[1], To: t.Until(m[1], ",")})
	}
	return names
}

const maxCalls = 16

func listeners(t *source.Text) []finding.Finding {
	names := namesIn(t)
	var found []finding.Finding
	for _, m := range t.FindAll(serveCall, maxCalls) {
		each, all := t.Arguments(m[1])
		if first := each[0]; first.Len() > 0 && !argumentName.MatchString(t.Slice(first)) {
			continue
		}
		l := finding.Listens(servedAt(names, m[1], all))
		l.Site = finding.At(t, source.Span{From: m[0], To: m[1]}).Quiet()
		found = append(found, l)
	}
	return found
}

// servedAt returns the address in a call of serve with arguments from an offset. Without a host, the address is on all
// interfaces (lib/src/server/server.dart).
func servedAt(names *address.Names, from int, all source.Span) (a address.Address, why string) {
	if m := unixSocket.FindSubmatchIndex(names.Code[all.From:all.To]); m != nil {
		a = address.Parse("unix:" + string(names.Raw[all.From+m[2]:all.From+m[3]]))
		a.Place.Line = names.Line(from)
		return a, ""
	}
	host, isHosted := names.Argument(from, -1, "address")
	port, hasPort := names.Argument(from, -1, "port")
	switch {
	case !hasPort: // a port of the framework, which depends on TLS
		a.Place.Line = names.Line(from)
		return a, "the port is not written there"
	case isHosted:
		return names.AddressOn(host, port)
	}
	a, why = names.Address(port)
	a.Host = address.AllInterfaces
	return a, why
}
