package cpp

import (
	"cmp"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// credentials are those of include/grpcpp/security/server_credentials.h. Those of xDS and others that are not named
// here are not known.
var credentials = analyzer.Credentials{
	Plaintext: lazyregexp.New(`\bInsecureServerCredentials\s*\(`),
	TLS:       lazyregexp.New(`\b(?:Ssl|Tls|Xds)ServerCredentials\s*\(`),
	Requires:  lazyregexp.New(`\bGRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE\w*`),
}

// securityName matches the names of functions and parameters that say what carries the calls.
var securityName = lazyregexp.New(`(?i)cred|tls|ssl|secur`)

// addListeningPort is the call that says where a server listens, and buildAndStartCall the one that makes the server of
// the same builder.
var (
	addListeningPort  = lazyregexp.New(`\b(?P<builder>\w+)\s*(?:\(\s*\))?\s*(?:\.|->)\s*AddListeningPort\s*\(`)
	buildAndStartCall = lazyregexp.New(`\b(?P<builder>\w+)\s*(?:\(\s*\))?\s*(?:\.|->)\s*(?P<at>BuildAndStart)\s*\(`)
)

// built is a server that a file builds.
type built struct {
	site    *finding.Site
	builder string
	at      int
	ports   []port
}

// port is an address that a server listens on, and the credentials for it.
type port struct {
	analyzer.Listening
	credentials source.Span
	conditions  []source.Span
	isAlways    bool // it is open whenever the server is
}

// listeners returns where the servers of a file listen, and what carries their calls. made are the findings of the
// file.
func listeners(names *address.Names, made []finding.Finding) []finding.Finding {
	servers := []*built{{}} // the first one is for calls whose server is not known
	sites := map[int]*finding.Site{}
	for s := range finding.All[finding.Server](made) {
		sites[s.Line] = s.Site
	}
	for _, m := range names.FindAll(buildAndStartCall, address.MaxListeners) {
		builder, _ := names.Group(buildAndStartCall, m, "builder")
		if site := sites[names.Line(m[2*buildAndStartCall.SubexpIndex("at")])]; site != nil {
			servers = append(servers, &built{site: site, builder: builder, at: m[0]})
		}
	}
	for _, m := range names.FindAll(addListeningPort, address.MaxListeners) {
		arguments, _ := names.Arguments(m[1])
		if len(arguments) < 2 {
			continue
		}
		builder, _ := names.Group(addListeningPort, m, "builder")
		of := serverOf(servers, builder, m[0])
		of.ports = append(of.ports, port{
			analyzer.Listening{
				Written: string(names.Raw[arguments[0].From:arguments[0].To]), Address: names.Value(arguments[0]),
				Of: of.site,
			},
			arguments[1], slices.Concat(names.ConditionsAround(m[0], of.at), compiled(names, m[0], of.at)), false,
		})
		last := &of.ports[len(of.ports)-1]
		last.isAlways = names.RunsWith(m[0], of.at) && len(last.conditions) == 0
	}
	var chosen []port
	var calls []analyzer.Listening
	for _, s := range servers {
		for _, p := range s.open() {
			chosen, calls = append(chosen, p), append(calls, p.Listening)
		}
	}
	return portFindings(names, chosen, analyzer.AreApart(calls))
}

// serverOf returns the server that a builder's ports are for which a call adds at an offset: the one that the builder
// makes next.
func serverOf(servers []*built, builder string, at int) *built {
	for _, s := range servers[1:] {
		if s.builder == builder && s.at > at {
			return s
		}
	}
	if len(servers) == 2 {
		return servers[1]
	}
	return servers[0]
}

// directive is a line of the preprocessor that begins or ends code which is compiled on a condition.
var directive = lazyregexp.New(`(?m)^[ \t]*#[ \t]*(if|el|endif)[^\n]*`)

// maxDirectives is how many directives of a file are looked at.
const maxDirectives = 1000

// compiled returns the directives on which the code at an offset is compiled, and the code at another one is not.
func compiled(names *address.Names, at, outer int) []source.Span {
	around := directives(names, outer)
	return slices.DeleteFunc(directives(names, at), func(s source.Span) bool { return slices.Contains(around, s) })
}

// directives returns the directives on which the code at an offset is compiled.
func directives(names *address.Names, at int) []source.Span {
	var open []source.Span
	for _, m := range names.FindAll(directive, maxDirectives) {
		if m[0] > at {
			break
		}
		word := names.Slice(source.Span{From: m[2], To: m[3]})
		if word != "if" && len(open) > 0 {
			open = open[:len(open)-1]
		}
		if word != "endif" {
			open = append(open, source.Span{From: m[0], To: m[1]})
		}
	}
	return open
}

// open returns the ports by which a server is reached: one that is open in any case, if there is one. A TCP port whose
// number is known goes before others.
func (b *built) open() []port {
	always := slices.DeleteFunc(slices.Clone(b.ports), func(p port) bool { return !p.isAlways })
	if len(always) == 0 {
		return b.ports
	}
	for _, isGood := range []func(a address.Value) bool{
		func(a address.Value) bool { return a.Local() != 0 || a.Host != address.UnixSocket && len(a.Names) > 0 },
		func(a address.Value) bool { return a.IsKnown() },
	} {
		if i := slices.IndexFunc(always, func(p port) bool { return isGood(p.Address) }); i >= 0 {
			return always[i : i+1]
		}
	}
	return always[:1]
}

// portFindings returns the findings of ports. If one is plaintext and another is not, what decides which one is open is
// the setting.
func portFindings(names *address.Names, ports []port, isApart bool) []finding.Finding {
	var found []finding.Finding
	var first plan.Security
	for i, p := range ports {
		says := credentials.Of(names, p.credentials, p.credentials.From)
		if i == 0 {
			first = says
		} else if !isApart && says.Transport != first.Transport && says.Setting == "" {
			says.Setting = cmp.Or(
				analyzer.Setting(names, ports[0].conditions), analyzer.Setting(names, p.conditions))
		}
		security := finding.SecurityAt(names.Line(p.credentials.From), says)
		if isApart {
			security.Of = p.Of
		}
		found = append(found, p.Listener(isApart), security)
	}
	return found
}
