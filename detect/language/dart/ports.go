package dart

import (
	"bytes"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var (
	serveCall   = lazyregexp.New(`(?P<server>\w+)?[\s!?)]*\.\s*serve\s*\(`)
	unixSocket  = lazyregexp.New(`\bInternetAddress\s*\((?P<path>)[^;]*?\bInternetAddressType\.unix\b`)
	declaration = lazyregexp.New(`\b(?:final|const|var|int|String|late)\s+(?:(?:[A-Z]\w*|int)\??\s+)?` +
		`(?P<name>\w+)\s*=\s+`)
	// assignment is another value of a variable.
	assignment = lazyregexp.New(`(?m)(?:^|[;)]|\{\s)\s*(?P<name>\w+)\s*=\s+`)
	// optionValue is the value of an option in the results of an ArgParser, and optionDefault the option's default.
	optionValue = lazyregexp.New(`\w+(?:\[|\.\s*option\()\s*['"](?P<key> *)['"]\s*[\])]`)
	// optionFlag is the flag of an option, and optionShort the other one of a letter.
	optionFlag  = lazyregexp.New(`\.addOption\s*\(\s*['"](?P<key>(?P<flag> *))['"]`)
	optionShort = lazyregexp.New(`\.addOption\s*\(\s*['"](?P<key> *)['"][^;()]{0,400}?` +
		`\babbr\s*:\s*['"](?P<flag> )['"]`)
	optionDefault = lazyregexp.New(`\.addOption\s*\(\s*['"](?P<key> *)['"][^;()]{0,400}?\bdefaultsTo\s*:\s*`)
)

// credentials are those of lib/src/server/server.dart. Local ones have no TLS.
var credentials = analyzer.Credentials{
	Plaintext: lazyregexp.New(`\bServerLocalCredentials\s*\(|\bnull\b`),
	TLS:       lazyregexp.New(`\bServerTlsCredentials\s*\(`),
}

// serving is a call of serve, with what carries the calls of the server.
type serving struct {
	analyzer.Listening
	security []finding.Finding
}

// namesIn returns the names that a source declares.
func namesIn(t *source.Text) *address.Names {
	names := address.Read(t, ";,", declaration, assignment)
	names.AssignOuter()
	names.Keyed(optionValue, optionDefault)
	names.ReadFlags(optionFlag, optionShort)
	return names
}

// listeners returns where the servers of a text listen, and what carries their calls.
func listeners(t *source.Text, servers []finding.Server) []finding.Finding {
	names := namesIn(t)
	declareFunctions(names)
	var calls []serving
	matches := t.FindAll(serveCall, address.MaxListeners)
	for _, m := range matches {
		call := arguments{Names: names, from: m[1]}
		call.each, _ = t.Arguments(m[1])
		if call.isPositional() {
			continue
		}
		s := serving{Listening: analyzer.Listening{
			Written: string(t.Raw[m[0]:t.Until(m[1], "")]), Address: call.listener(),
		}}
		server := source.Span{From: m[0], To: m[0]}
		if m[2] >= 0 {
			server = source.Span{From: m[2], To: m[3]}
		}
		s.Of = analyzer.ServerIn(t, names.Reach(server), servers)
		s.security = call.security(matches)
		if s.Of != nil {
			s.Address = call.orDefault(s.Address)
		}
		calls = append(calls, s)
	}
	if len(calls) == 0 {
		return []finding.Finding{finding.Security{Site: servers[0].Quiet()}} // it is served elsewhere
	}
	var all []analyzer.Listening
	for _, c := range calls {
		all = append(all, c.Listening)
	}
	return findingsOf(calls, analyzer.AreApart(all))
}

func findingsOf(calls []serving, isApart bool) []finding.Finding {
	var found []finding.Finding
	for _, c := range calls {
		found = append(found, c.Listener(isApart))
		for s := range finding.All[finding.Security](c.security) {
			if isApart {
				s.Of = c.Of
			}
			found = append(found, s)
		}
	}
	return found
}

// arguments are those of a call of serve, which begin at an offset.
type arguments struct {
	*address.Names
	from int
	each []source.Span
}

var argumentName = lazyregexp.New(`^(\w+)\s*:\s*`)

// isPositional reports whether an argument has no name: then it is the serve of another package, such as shelf's.
func (a arguments) isPositional() bool {
	return slices.ContainsFunc(a.each, func(s source.Span) bool {
		return s.From < s.To && !argumentName.MatchString(a.Slice(s))
	})
}

// named returns the argument with a name.
func (a arguments) named(name string) (source.Span, bool) {
	for _, s := range a.each {
		m := argumentName.FindStringSubmatchIndex(a.Slice(s))
		if m != nil && a.Slice(source.Span{From: s.From, To: s.From + m[3]}) == name {
			return source.Span{From: s.From + m[1], To: s.To}, true
		}
	}
	return source.Span{}, false
}

// listener returns the address to serve at. Without a host that is all interfaces (lib/src/server/server.dart).
func (a arguments) listener() address.Value {
	host, isHosted := a.named("address")
	port, hasPort := a.named("port")
	for _, r := range a.Reach(host) {
		if m := unixSocket.FindSubmatchIndex(a.Code[r.From:r.To]); isHosted && m != nil {
			return a.SocketAt(source.Span{From: r.From + m[2], To: a.Until(r.From+m[2], ",")})
		}
	}
	switch {
	case !hasPort:
		return a.Nothing(a.from)
	case isHosted:
		return a.ValueOn(host, port)
	}
	v := a.Value(port)
	for _, r := range a.Reach(port) {
		if listenPort.Match(a.Code[r.From:r.To]) && bytes.Contains(a.Raw, []byte("package:gcp/")) {
			v.Port, v.Variable, v.Certainty = 8080, "PORT", address.Default
		}
	}
	v.Host = address.AllInterfaces
	return v
}

// listenPort is the port that Cloud Run gives an app, 8080 by default (package:gcp lib/src/serve.dart).
var listenPort = lazyregexp.New(`\blistenPort\s*\(\s*\)`)

// orDefault returns the address to serve at, which has a port by default: one for TLS, one for plaintext
// (lib/src/server/server.dart).
func (a arguments) orDefault(v address.Value) address.Value {
	_, isHosted := a.named("address")
	_, hasPort := a.named("port")
	if isHosted || hasPort {
		return v
	}
	says := plan.Security{Transport: plan.Plaintext}
	if given, ok := a.named("security"); ok {
		says = credentials.Of(a.Names, given, given.From)
	}
	switch {
	case says.Setting != "":
	case says.IsTLS():
		v.Host, v.Port, v.Certainty = address.AllInterfaces, 443, address.Default
	case says.Transport == plan.Plaintext:
		v.Host, v.Port, v.Certainty = address.AllInterfaces, 80, address.Default
	}
	return v
}

// security returns what the call says of the security, which may run in place of others of all calls; nothing if it is
// the only one and says nothing.
func (a arguments) security(all [][]int) []finding.Finding {
	given, ok := a.named("security")
	switch {
	case !ok && len(all) > 1:
		return []finding.Finding{finding.SecurityAt(a.Line(a.from), plan.Security{Transport: plan.Plaintext})}
	case !ok:
		return nil
	}
	says := credentials.Of(a.Names, given, given.From)
	if required, ok := a.named("requireClientCertificate"); ok && says.Transport == plan.TLS {
		switch code := a.Slice(required); {
		case code == "true":
			says.Transport = plan.MutualTLS
		case !slices.Contains([]string{"false", ""}, code):
			says = plan.Security{}
		}
	}
	var conditions []source.Span
	for _, m := range all {
		conditions = append(conditions, a.Excluding(a.from, m[1])...)
	}
	if says.IsTLS() && len(conditions) > 0 {
		says = plan.Security{Setting: analyzer.Setting(a.Names, conditions)}
	}
	return []finding.Finding{finding.SecurityAt(a.Line(given.From), says)}
}
