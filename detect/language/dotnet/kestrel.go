package dotnet

import (
	"bytes"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// endpoint is an address that Kestrel, the server of ASP.NET Core, listens on.
type endpoint struct {
	*finding.Site
	address   address.Address
	why       string // reason for an unknown address
	transport plan.Transport
	protocols string // as in HttpProtocols, "" if not given
	// isURL marks the server's URLs, which Kestrel leaves out beside other endpoints (dotnet/aspnetcore,
	// src/Servers/Kestrel/Core/src/Internal/AddressBinder.cs).
	isURL bool
	// key is the setting of the endpoint, in lower case; "" for an endpoint of a source. An endpoint with isProduction
	// takes precedence over an endpoint with the same key.
	key          string
	isProduction bool
}

// urlEndpoint returns the endpoint of a URL on a line. The endpoint listens on all interfaces unless the host is an
// address or localhost, and on a socket for http://unix:/run/app.sock (AddressBinder.cs; BindingAddress.cs).
func urlEndpoint(url string, line int) endpoint {
	a := address.Setting(url, line)
	host := strings.Trim(address.TrimScheme(url), "0123456789.:[]")
	if a.Host == address.OneInterface && host != "" && !strings.Contains(url, "//[") {
		a.Host = address.AllInterfaces
	}
	return endpoint{Site: finding.AtLine(line, ""), address: a, transport: transportOf([]byte(url))}
}

var (
	// listenCall matches calls of Kestrel's options that add an endpoint, and urlCall calls that add URLs.
	listenCall = lazyregexp.New(receiver +
		`(?P<call>Listen(?:AnyIP|Localhost|UnixSocket)?)\s*\(`)
	urlCall = lazyregexp.New(receiver + `(?P<call>UseUrls|Urls\s*\.\s*Add|Run|RunAsync)\s*\(`)
	// kestrelWords mark a source with calls of Kestrel's Listen: sockets and TcpListeners have a Listen too.
	kestrelWords = lazyregexp.New(`Kestrel|\bIPAddress\b`)
	useHTTPS     = lazyregexp.New(`\bUseHttps\s*\(`)
	// choosesHTTPS asks for TLS on a condition. passedOn are options that a function elsewhere sets.
	choosesHTTPS = lazyregexp.New(`(?s)\b[iI]f\b.*\bUseHttps\s*\(`)
	passedOn     = lazyregexp.New(`^\s*,\s*[\w.]+\s*$|=>\s*[\w.]+\s*\(\s*\w+\s*[,)]`)
	protocols    = lazyregexp.New(`\bHttpProtocols\s*\.\s*(Http\w+)`)
	literal      = source.Exactly(`@?"([^"{}]*)"`)
	// withHost is the beginning of the arguments of a call with a host first.
	withHost = lazyregexp.New(`^\s*[\w.]+(?:\([^()]*\))?\s*,\s*[\w.]+\s*(?:,|\)|$)`)
)

// transportOf returns the transport by the schemes of the URLs in a text, if all have the same.
func transportOf(text []byte) plan.Transport {
	text = bytes.ToLower(text)
	hasTLS, hasPlain := bytes.Contains(text, []byte("https://")), bytes.Contains(text, []byte("http://"))
	switch {
	case hasTLS == hasPlain:
		return plan.UnknownTransport
	case hasTLS:
		return plan.TLS
	}
	return plan.Plaintext
}

// maxEndpoints is how many calls of a source are read. Many are of other methods with the same names.
const maxEndpoints = 256

func endpointsIn(names *address.Names) []finding.Finding {
	var found []finding.Finding
	add := func(m []int, e endpoint) {
		e.Site = finding.At(names.Text, source.Span{From: m[0], To: m[1]}).Quiet()
		found = append(found, e)
	}
	for _, m := range names.FindAll(listenCall, maxEndpoints) {
		call, _ := names.Group(listenCall, m, "call")
		if call != "Listen" || names.Matches(kestrelWords) {
			add(m, optionsEndpoint(names, call, m[1]))
		}
	}
	for _, m := range names.FindAll(urlCall, maxEndpoints) {
		call, _ := names.Group(urlCall, m, "call")
		each, _ := names.Arguments(m[1])
		for _, s := range each {
			for _, e := range urlEndpoints(names, s) {
				// The argument of Run may also be a delegate.
				if !strings.HasPrefix(call, "Run") || e.transport != plan.UnknownTransport {
					add(m, e)
				}
			}
		}
	}
	return found
}

// optionsEndpoint returns the endpoint of a call of Kestrel's options with arguments from an offset: (5000, options),
// (IPAddress.Any, 5000, options) or (new IPEndPoint(IPAddress.Any, 5000), options).
func optionsEndpoint(names *address.Names, call string, from int) endpoint {
	each, all := names.Arguments(from)
	host, port := source.Span{}, each[0]
	if call == "Listen" && withHost.MatchString(names.Slice(all)) {
		host, port = each[0], each[1]
	}
	e := endpoint{transport: plan.Plaintext}
	switch e.address, e.why = names.AddressOn(host, port); call {
	case "ListenAnyIP":
		e.address.Host = address.AllInterfaces
	case "ListenLocalhost":
		e.address.Host = address.Loopback
	case "ListenUnixSocket":
		e.address = address.Address{Place: e.address.Place, Host: address.UnixSocket}
		if m := literal.FindSubmatch(valueOf(names, port)); m != nil {
			e.address.Socket, e.address.Certainty = "unix:"+string(m[1]), address.Written
		}
	}
	options := names.Code[port.To:all.To]
	if m := protocols.FindSubmatch(options); m != nil {
		e.protocols = string(m[1])
	}
	switch {
	case choosesHTTPS.Match(options):
		e.transport = plan.UnknownTransport
	case useHTTPS.Match(options):
		e.transport = plan.TLS
	case passedOn.Match(options):
		e.transport = plan.UnknownTransport
	}
	return e
}

// urlEndpoints returns the endpoints of an expression: a URL or a list of URLs.
func urlEndpoints(names *address.Names, s source.Span) []endpoint {
	var found []endpoint
	value := valueOf(names, s)
	if m := literal.FindSubmatch(value); m != nil {
		for url := range strings.SplitSeq(string(m[1]), ";") {
			found = append(found, urlEndpoint(url, names.Line(s.From)))
		}
	} else if s.From < s.To {
		e := endpoint{transport: transportOf(value)}
		e.address, e.why = names.Address(s)
		found = append(found, e)
	}
	for i := range found {
		found[i].isURL = true
	}
	return found
}

// valueOf returns the text of an expression or, for a name with one value in the source, of the value.
func valueOf(names *address.Names, s source.Span) []byte {
	if values := names.Values(names.Slice(s), s.From); len(values) == 1 {
		s = values[0]
	}
	return names.Raw[s.From:s.To]
}

// findings returns the listener and the security of an endpoint. Both are unknown if a condition adds the endpoint.
func (e endpoint) findings() []finding.Finding {
	if e.IsUnsure() {
		e.address, e.why, e.transport = address.Address{Place: e.address.Place}, "a condition decides", ""
	}
	l := finding.Listens(e.address, e.why)
	l.Path = e.Path
	return []finding.Finding{
		l, finding.Security{Site: e.Quiet(), Says: plan.Security{Transport: e.transport}},
	}
}

// endpointsOf returns the endpoints of a project for gRPC, which is HTTP/2. Without TLS, Kestrel serves HTTP/2 only on
// endpoints for nothing else (dotnet/aspnetcore, src/Servers/Kestrel/Core/src/Internal/HttpConnection.cs).
func endpointsOf(p *project) []endpoint {
	var all []endpoint
	for f := range p.All() {
		if e, ok := f.(endpoint); ok && e.protocols != "Http1" {
			all = append(all, e)
		}
	}
	without := func(isWorse func(e endpoint) bool) {
		if better := slices.DeleteFunc(slices.Clone(all), isWorse); len(better) > 0 {
			all = better
		}
	}
	inProduction := func(key string) bool {
		return slices.ContainsFunc(all, func(e endpoint) bool { return e.isProduction && e.key == key })
	}
	without(func(e endpoint) bool { return e.key != "" && !e.isProduction && inProduction(e.key) })
	without(func(e endpoint) bool { return e.isURL })
	if isHTTP2 := func(e endpoint) bool { return e.protocols == "Http2" }; slices.ContainsFunc(all, isHTTP2) {
		without(func(e endpoint) bool { return !isHTTP2(e) })
		without(func(e endpoint) bool { return e.transport != plan.Plaintext }) // plaintext is easiest to reach
		return all
	}
	without(func(e endpoint) bool { return e.transport != plan.TLS })
	return all
}
