package dotnet

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

var (
	// declaration matches `const int Port = 5000;`, `var url = "http://*:5000";`, `int port = Port;`, `let port = 5000`
	// and `Const Port As Integer = 5000`.
	declaration = lazyregexp.New(`\b(?P<name>\w+)(?:\s*:\s*\w+|\s+As\s+\w+)?\s*=\s*`)
	// listenCall matches the calls that name addresses: those of Kestrel in the group "call", the one of Saturn in the
	// group "number", and those of Grpc.Core in no group: the initializer Ports = { { host, port, ... } } is one.
	listenCall = lazyregexp.New(receiver + `(?P<call>ListenAnyIP|ListenLocalhost|ListenUnixSocket|ListenHandle|` +
		`ListenNamedPipe|Listen|UseUrls|Urls\s*\.\s*Add|Run|RunAsync)\s*\(|` +
		`\b(?:ServerPort|Ports\s*\.\s*Add)\s*\(|\bPorts\s*=\s*\{\s*\{|(?m:^\s*listen_local\s+(?P<number>\d+))`)
	newIPEndPoint = lazyregexp.New(`^new\s+(?:\w+\.)*IPEndPoint\s*\(`)
	wellKnownIP   = lazyregexp.New(`\bIPAddress\s*\.\s*(?:IPv6)?(?P<name>Any|Loopback)\b`)
	// oneLiteral is an expression that is one string, and simpleName one that is a name.
	oneLiteral = source.Exactly(`@?"[ ]*"`)
	simpleName = source.Exactly(`(?:\w+\.)*\w+`)
)

// maxListenCalls is how many calls of one source are looked at. Many of them are of other methods with the same names.
const maxListenCalls = 256

// listeners returns the addresses that a source names, and the security of what listens there. made are the findings of
// the source.
func listeners(d *address.Names, made []finding.Finding) []finding.Finding {
	var found []finding.Finding
	servers := slices.Collect(finding.All[finding.Server](made))
	t := d.Text
	for _, m := range t.FindAll(listenCall, maxListenCalls) {
		arguments, _ := t.Arguments(m[1])
		if call, ok := t.Group(listenCall, m, "call"); ok {
			for _, f := range kestrelEndpoints(d, call, m[0], arguments) {
				f.at = m[0]
				found = append(found, f)
			}
		} else if number, ok := t.Group(listenCall, m, "number"); ok {
			local := address.Setting(number, t.Line(m[0]))
			local.Host = address.Loopback
			found = append(found, newEndpoint(local, plan.Security{Transport: plan.Plaintext}, "Http2"))
		} else if len(arguments) > 1 {
			v := d.Value(arguments[1])
			v.Host = hostIn(d, arguments[0])
			l := finding.ListenerAt(v)
			l.Of = analyzer.InStatement(d, servers, m[0])
			found = append(found, l)
			if len(arguments) > 2 {
				says := finding.SecurityAt(t.Line(arguments[2].From), credentials(d, arguments[2]))
				says.Of = l.Of
				found = append(found, says)
			}
		}
	}
	chooseOne(d, found)
	return found
}

// kestrelEndpoints returns what a call makes Kestrel listen on: nothing for a call of another method.
func kestrelEndpoints(d *address.Names, call string, at int, arguments []source.Span) []endpoint {
	if arguments[0].From == arguments[0].To || isElsewhere(d, at, 0) {
		return nil
	}
	switch call {
	case "Run", "RunAsync":
		// What is run may also be a delegate.
		v := d.Value(arguments[0])
		if isFunction(d, arguments[0]) || v.Certainty == address.Unknown && text(d, arguments[0]) == "" {
			return nil
		}
		return urls(d, arguments[:1])
	case "UseUrls", "Listen", "ListenAnyIP", "ListenLocalhost", "ListenUnixSocket", "ListenHandle", "ListenNamedPipe":
	default:
		return urls(d, arguments)
	}
	if call == "UseUrls" {
		return urls(d, arguments)
	}
	listens, options, ok := listenAddress(d, call, arguments)
	if !ok {
		return nil
	}
	return []endpoint{newEndpoint(listens, endpointSecurity(d, at, options), protocolsIn(d.Text, options))}
}

// function is what begins a function: a lambda, or an anonymous method.
var function = lazyregexp.New(`=>|^(?:async\s+)?(?:delegate|fun|Sub|Function)\b`)

// isFunction reports whether an expression is a function, or a name that has one for a value.
func isFunction(d *address.Names, s source.Span) bool {
	return slices.ContainsFunc(valuesOf(d, s), func(v source.Span) bool { return function.MatchString(d.Slice(v)) })
}

// valuesOf returns the values of a name, and of anything else the expression itself.
func valuesOf(d *address.Names, s source.Span) []source.Span {
	if name := d.Slice(s); simpleName.MatchString(name) {
		return d.Values(name[strings.LastIndexByte(name, '.')+1:], s.From)
	}
	return []source.Span{s}
}

// listenAddress returns where a call of Kestrel's options listens, and its further arguments. It reports false for a
// call of another method: sockets and TcpListeners have a Listen too, whose argument is no address.
func listenAddress(d *address.Names, call string, arguments []source.Span) (address.Value, []source.Span, bool) {
	var v address.Value
	switch call {
	case "ListenAnyIP", "ListenLocalhost":
		v = d.Value(arguments[0])
		if v.Host = address.AllInterfaces; call == "ListenLocalhost" {
			v.Host = address.Loopback
		}
	case "ListenUnixSocket":
		v = d.Socket(arguments[0].From)
		if path := text(d, arguments[0]); path != "" {
			v.Socket, v.Certainty = "unix:"+path, address.Written
		}
	case "Listen":
		return listenHostAndPort(d, arguments)
	default:
		v = d.Nothing(arguments[0].From)
	}
	return v, arguments[1:], true
}

// listenHostAndPort returns what Listen listens on, whose arguments are (IPAddress.Any, 5000, ...) or (new
// IPEndPoint(IPAddress.Any, 5000), ...).
func listenHostAndPort(d *address.Names, arguments []source.Span) (address.Value, []source.Span, bool) {
	options := arguments[1:]
	switch m := newIPEndPoint.FindStringIndex(d.Slice(arguments[0])); {
	case m != nil:
		arguments, _ = d.Arguments(arguments[0].From + m[1])
	case len(arguments) > 1 && lambda.MatchString(d.Slice(arguments[1])):
		return d.Value(arguments[0]), options, d.Matches(kestrelOptions)
	case len(arguments) > 1:
		options = arguments[2:]
	}
	if len(arguments) < 2 || !strings.Contains(d.Slice(arguments[0]), "IPAddress") && !d.Matches(kestrelOptions) {
		return address.Value{}, nil, false
	}
	v := d.Value(arguments[1])
	v.Host = hostIn(d, arguments[0])
	return v, options, true
}

// kestrelOptions is in a source that has to do with Kestrel.
var kestrelOptions = lazyregexp.New(`Kestrel`)

// hostIn returns the host that an expression is, or the one value of a variable.
func hostIn(d *address.Names, s source.Span) address.Host {
	values := valuesOf(d, s)
	for _, value := range values {
		if address.IsOwnHost(d.Code[value.From:value.To]) {
			return address.OneInterface
		}
	}
	if host := writtenHost(d, s); host != address.UnknownHost || len(values) != 1 {
		return host
	}
	return writtenHost(d, values[0])
}

// writtenHost returns the host that an expression states: an IPAddress, or a name or an address in a string.
func writtenHost(d *address.Names, s source.Span) address.Host {
	if m := wellKnownIP.FindStringSubmatch(d.Slice(s)); m != nil {
		return map[string]address.Host{"Any": address.AllInterfaces, "Loopback": address.Loopback}[m[1]]
	}
	if parsed := parsedIP.FindStringSubmatchIndex(d.Slice(s)); parsed != nil {
		s = source.Span{From: s.From + parsed[2], To: s.From + parsed[3]}
	}
	if host := text(d, s); host != "" {
		return address.HostOf(host)
	}
	return address.UnknownHost
}

var parsedIP = lazyregexp.New(`\bIPAddress\s*\.\s*Parse\s*\(([^()]*)\)`)

// text returns the string that an expression is, or "": a literal, or a name whose only value is one.
func text(d *address.Names, s source.Span) string {
	values := valuesOf(d, s)
	if len(values) != 1 {
		return ""
	}
	s = d.Trim(values[0])
	if !oneLiteral.Match(d.Code[s.From:s.To]) {
		return ""
	}
	return strings.Trim(strings.TrimPrefix(string(d.Raw[s.From:s.To]), "@"), `"`)
}
