package dotnet

import (
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	// declaration matches `const int Port = 5000;`, `var url = "http://*:5000";`, `int port = Port;`, `let port = 5000`
	// and `Const Port As Integer = 5000`.
	declaration = regexp.MustCompile(`\b(?P<name>\w+)(?:\s*:\s*\w+|\s+As\s+\w+)?\s*=\s*`)
	// listenCall matches the calls that name addresses: those of Kestrel in the group "call", the one of Saturn in the
	// group "number", and those of Grpc.Core in no group.
	listenCall = regexp.MustCompile(receiver + `(?P<call>ListenAnyIP|ListenLocalhost|ListenUnixSocket|ListenHandle|` +
		`ListenNamedPipe|Listen|UseUrls|Urls\s*\.\s*Add|Run|RunAsync)\s*\(|` +
		`\b(?:ServerPort|Ports\s*\.\s*Add)\s*\(|(?m:^\s*listen_local\s+(?P<number>\d+))`)
	newIPEndPoint = regexp.MustCompile(`^new\s+(?:\w+\.)*IPEndPoint\s*\(`)
)

// maxListenCalls is how many calls of one source are looked at. Many of them are of other methods with the same names.
const maxListenCalls = 256

// endpoint is an address that Kestrel listens on.
type endpoint struct {
	address   address.Value
	http1Only bool
	http2Only bool
}

// listeners returns the addresses that a source names.
func listeners(d *address.Names) []finding.Finding {
	var found []finding.Finding
	var endpoints []endpoint
	t := d.Text
	for _, m := range t.FindAll(listenCall, maxListenCalls) {
		arguments, _ := t.Arguments(m[1])
		if call, ok := t.Group(listenCall, m, "call"); ok {
			if e, ok := kestrelEndpoint(d, call, arguments); ok {
				endpoints = append(endpoints, e)
			}
		} else if number, ok := t.Group(listenCall, m, "number"); ok {
			endpoints = append(endpoints, endpoint{address: address.Setting(number, t.Line(m[0])), http2Only: true})
		} else if len(arguments) > 1 {
			where := source.Span{From: arguments[0].From, To: arguments[1].To}
			found = append(found, finding.ListenerAt(d.Value(where)))
		}
	}
	return append(found, kestrelListeners(endpoints)...)
}

// kestrelEndpoint returns what a call makes Kestrel listen on. It reports false for a call of another method.
func kestrelEndpoint(d *address.Names, call string, arguments []source.Span) (endpoint, bool) {
	where := arguments[0]
	if where.From == where.To {
		return endpoint{}, false
	}
	listens := d.Nothing(where.From)
	switch call {
	case "ListenAnyIP", "ListenLocalhost":
		listens = d.Value(where)
	case "Listen":
		// Sockets and TcpListeners have a Listen too, whose argument is no address.
		hostAndPort, ok := listenAddress(d.Text, arguments)
		if !ok {
			return endpoint{}, false
		}
		listens = d.Value(hostAndPort)
	case "Run", "RunAsync":
		// What is run may also be a delegate.
		if listens = d.Value(where); listens.Certainty == address.Unknown {
			return endpoint{}, false
		}
	case "ListenUnixSocket":
		listens = d.Socket(where.From)
	case "ListenHandle", "ListenNamedPipe":
	default:
		if len(arguments) == 1 {
			listens = d.Value(where)
		}
	}
	options := d.Slice(source.Span{From: where.From, To: arguments[len(arguments)-1].To})
	http2 := strings.Contains(options, "HttpProtocols.Http2")
	http1 := strings.Contains(options, "HttpProtocols.Http1") && !strings.Contains(options, "HttpProtocols.Http1And")
	return endpoint{address: listens, http1Only: http1 && !http2, http2Only: http2}, true
}

// listenAddress returns host and port of a call of Listen, whose arguments are (IPAddress.Any, 5000, ...) or (new
// IPEndPoint(IPAddress.Any, 5000)).
func listenAddress(t *source.Text, arguments []source.Span) (source.Span, bool) {
	if m := newIPEndPoint.FindStringIndex(t.Slice(arguments[0])); m != nil {
		arguments, _ = t.Arguments(arguments[0].From + m[1])
	}
	if len(arguments) < 2 || !strings.Contains(t.Slice(arguments[0]), "IPAddress") {
		return source.Span{}, false
	}
	return source.Span{From: arguments[0].From, To: arguments[1].To}, true
}

// kestrelListeners returns the endpoints that gRPC, which is HTTP/2, may use: those for HTTP/2 alone, or where there
// are none, those that are not for HTTP/1 alone.
func kestrelListeners(all []endpoint) []finding.Finding {
	hasHTTP2Only := slices.ContainsFunc(all, func(e endpoint) bool { return e.http2Only })
	var found []finding.Finding
	for _, e := range all {
		if !e.http1Only && (e.http2Only || !hasHTTP2Only) {
			found = append(found, kestrelListener{finding.ListenerAt(e.address)})
		}
	}
	return found
}
