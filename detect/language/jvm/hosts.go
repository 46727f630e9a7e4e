package jvm

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// onHost is a call that has a host beside a port, or an address with both. The others listen on all interfaces.
	onHost = lazyregexp.New(`forAddress$|^(?:newServerAt|bindAndHandle\w*|toHost|toHostHttps|listen|addHttp\w*)$`)
	// socketAddress is an address as an argument, and loopbackAddress one of the machine itself.
	socketAddress   = lazyregexp.New(`\bInetSocketAddress\s*\(`)
	loopbackAddress = lazyregexp.New(`\bInetAddress\s*\.\s*getLoopbackAddress\s*\(`)
	namedAddress    = lazyregexp.New(`\bInetAddress\s*\.\s*getByName\s*\(`)
	// domainSocket is a Unix domain socket, of Netty or of the JDK.
	domainSocket = lazyregexp.New(`\b(?:DomainSocketAddress\s*\(|UnixDomainSocketAddress\s*\.\s*of\s*\()`)
	// otherHost is where another call gives a server its host: Vert.x' options, Helidon's and Armeria's builders.
	otherHost  = lazyregexp.New(`\.\s*(?:setHost|host|bindAddress)\s*\(`)
	oneLiteral = source.Exactly(`"[ ]*"`)
)

// serverHost makes a server of grpc-java on a port (salesforce/grpc-java-contrib, GrpcServerHost.java).
const serverHost = "GrpcServerHost"

// address returns where the server listens that a call is for.
func (n *names) address(call listenCall) address.Value {
	if v, ok := n.socket(call.arguments); ok {
		return v
	}
	arguments := call.arguments
	if strings.HasPrefix(call.name, "bindAndHandle") && len(arguments) > 1 {
		arguments = arguments[1:] // the handler comes first
	}
	if call.name == serverHost {
		arguments = arguments[:1] // how long it may take to end comes after
	}
	if m := socketAddress.FindStringIndex(n.text.Slice(arguments[0])); m != nil {
		arguments, _ = n.text.Arguments(arguments[0].From + m[1])
	}
	v := n.argument(arguments)
	switch {
	case call.name == "localPort":
		v.Host = address.Loopback
	case strings.HasSuffix(call.name, "orPort"), call.name == serverHost:
		v.Host = address.AllInterfaces
	default:
		if host := n.host(call); host != address.UnknownHost || v.Host == address.UnknownHost {
			v.Host = host
		}
	}
	return v
}

// host returns the host among the arguments of a call.
func (n *names) host(call listenCall) address.Host {
	all := source.Span{From: call.arguments[0].From, To: call.arguments[len(call.arguments)-1].To}
	code := n.text.Code[all.From:all.To]
	arguments := call.arguments
	if m := socketAddress.FindIndex(code); m != nil {
		if arguments, _ = n.text.Arguments(all.From + m[1]); len(arguments) == 1 {
			return address.AllInterfaces
		}
	}
	for _, s := range arguments {
		if host := n.literal(s); host != "" && !startsWithDigits.MatchString(host) {
			return address.HostOf(host)
		}
		declared := n.declared(s)
		for _, value := range append(declared, s) {
			if address.IsOwnHost(n.text.Code[value.From:value.To]) {
				return address.OneInterface
			}
			if host := n.inetAddress(value); host != address.UnknownHost && len(declared) < 2 {
				return host
			}
		}
	}
	if call.name == "listen" && len(arguments) == 1 || !onHost.MatchString(call.name) {
		return n.hostElsewhere()
	}
	return address.UnknownHost
}

// inetAddress returns the host that an expression makes an InetAddress of.
func (n *names) inetAddress(s source.Span) address.Host {
	if loopbackAddress.Match(n.text.Code[s.From:s.To]) {
		return address.Loopback
	}
	if m := namedAddress.FindIndex(n.text.Code[s.From:s.To]); m != nil {
		if named, _ := n.text.Arguments(s.From + m[1]); n.literal(named[0]) != "" {
			return address.HostOf(n.literal(named[0]))
		}
	}
	return address.UnknownHost
}

// startsWithDigits is a text that is a number, and no host.
var startsWithDigits = source.Exactly(`\d+`)

// hostElsewhere returns the host that another call of the file gives a server, all interfaces if none does.
func (n *names) hostElsewhere() address.Host {
	host := address.AllInterfaces
	for i, m := range n.text.FindAll(otherHost, maxValues) {
		each, _ := n.text.Arguments(m[1])
		of := address.HostOf(n.literal(each[0]))
		if n.literal(each[0]) == "" || i > 0 && of != host {
			return address.UnknownHost
		}
		host = of
	}
	return host
}

// socket returns the address of a server on a Unix domain socket. ok is false for any other server.
func (n *names) socket(arguments []source.Span) (v address.Value, ok bool) {
	for _, s := range arguments {
		for _, value := range append(n.declared(s), s) {
			m := domainSocket.FindIndex(n.text.Code[value.From:value.To])
			if m == nil {
				continue
			}
			v = n.values().Socket(value.From)
			if path, _ := n.text.Arguments(value.From + m[1]); n.literal(path[0]) != "" {
				v.Socket, v.Certainty = "unix:"+n.literal(path[0]), address.Written
			}
			return v, true
		}
	}
	return v, false
}

// declared returns the values of a name, none of anything else.
func (n *names) declared(s source.Span) []source.Span {
	if name := strings.TrimPrefix(n.text.Slice(s), "this."); simpleName.MatchString(name) {
		return slices.Clone(n.values().Values(name, s.From))
	}
	return nil
}

// argumentName is the name of an argument in Kotlin and Scala.
var argumentName = lazyregexp.New(`^[a-z]\w*\s*=\s*`)

// literal returns the string that an expression is, or "": a literal, or a name whose only value is one.
func (n *names) literal(s source.Span) string {
	s.From += len(argumentName.FindString(n.text.Slice(s)))
	if values := n.declared(s); len(values) == 1 {
		s = n.text.Trim(values[0])
	}
	if !oneLiteral.Match(n.text.Code[s.From:s.To]) {
		return ""
	}
	return strings.Trim(string(n.text.Raw[s.From:s.To]), `"`)
}
