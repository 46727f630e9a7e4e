package dotnet

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// endpoint is an address that Kestrel, the server of ASP.NET Core, listens on.
type endpoint struct {
	*finding.Site
	address   address.Value
	security  plan.Security
	protocols string // as in HttpProtocols, "" for what the defaults say
	// isURL says that it is one of the server's URLs, which Kestrel leaves out if it has other endpoints
	// (dotnet/aspnetcore, src/Servers/Kestrel/Core/src/Internal/AddressBinder.cs).
	isURL bool
	at    int // the offset of its call in a source
	// key is the setting that has it, in lower case; "" for an endpoint of a source. addedTo is the folder of the
	// program that adds the file with that setting, "" for one that is read anyway.
	key, addedTo string
}

// kestrelDefaults is what holds for all endpoints of a program that say nothing else.
type kestrelDefaults struct {
	*finding.Site
	protocols      string
	requiresClient bool
	https          plan.Security // of the line 0 if it does not say so
}

func newEndpoint(v address.Value, says plan.Security, protocols string) endpoint {
	return endpoint{Site: finding.AtPlace(v.Place, ""), address: v, security: says, protocols: protocols}
}

// urlEndpoint returns the endpoint of a URL on a line.
func urlEndpoint(url string, line int) endpoint {
	e := newEndpoint(urlValue(url, line), schemeSecurity(url), "")
	e.isURL = true
	return e
}

// urlValue returns where Kestrel listens for a URL on a line: on all interfaces unless its host is an address or
// localhost, and on a socket for http://unix:/run/app.sock (AddressBinder.cs; BindingAddress.cs).
func urlValue(url string, line int) address.Value {
	at := address.TrimScheme(url)
	v := address.Setting(at, line)
	if v.Host == address.OneInterface && strings.Trim(at, "0123456789.:[]") != "" && !strings.HasPrefix(at, "[") {
		v.Host = address.AllInterfaces
	}
	return v
}

// chooseOne says of endpoints, of which a program has one alone by a condition, that it is not known in what they
// differ.
func chooseOne(d *address.Names, found []finding.Finding) {
	for i := range min(len(found), address.MaxListeners) {
		for j := range i {
			a, isA := found[i].(endpoint)
			b, isB := found[j].(endpoint)
			if isA && isB {
				found[i], found[j] = a.orOther(d, b), b.orOther(d, a)
			}
		}
	}
}

// orOther returns an endpoint without what another one has otherwise, if the program has one of them alone.
func (e endpoint) orOther(d *address.Names, other endpoint) endpoint {
	if e.protocols == other.protocols && e.security.Transport == other.security.Transport {
		return e
	}
	conditions := d.Excluding(e.at, other.at)
	if len(conditions) == 0 {
		return e
	}
	if e.protocols != other.protocols {
		e.protocols = ""
	}
	if e.security.Transport != other.security.Transport {
		e.security = plan.Security{Setting: settingKey(d.OnlyDecider(conditions))}
	}
	return e
}

// listens is where a source calls for an endpoint.
type listens struct{ *finding.Site }

// unsureForgotten returns listeners without what is said of endpoints that an option turns on beside the servers among
// other findings: without it Kestrel listens elsewhere.
func unsureForgotten(d *address.Names, others, listeners []finding.Finding) []finding.Finding {
	isServer := func(f finding.Finding) bool { return finding.Is[serviceMapped](f) || finding.Is[finding.Server](f) }
	var calls []finding.Finding
	for _, f := range listeners {
		if e, ok := f.(endpoint); ok {
			calls = append(calls, listens{finding.At(d.Text, source.Span{From: e.at, To: e.at})})
		} else {
			calls = append(calls, f)
		}
	}
	around := slices.DeleteFunc(slices.Clone(others), func(f finding.Finding) bool { return !isServer(f) })
	calls = append(calls, around...)
	calls = analyzer.MarkHealth(d.Text, func() *address.Names { return d }, calls, finding.Is[listens], nil)
	for i, f := range listeners {
		of, isListening := calls[i].(listens)
		if e, ok := f.(endpoint); ok && isListening && of.IsUnsure() {
			if e.address = unknownAt(e.address); e.security.Transport != plan.UnknownTransport {
				e.security = plan.Security{}
			}
			listeners[i] = e
		}
	}
	return listeners
}

// findings returns what an endpoint says of a server that listens on it.
func (e endpoint) findings() []finding.Finding {
	if e.security.Place.Line != 0 {
		e.security.Place.Path = e.Path
	}
	return []finding.Finding{
		finding.Listener{Site: e.Site, Address: e.address},
		finding.Security{Site: e.Quiet(), Says: e.security},
	}
}

// settled returns endpoints without those that other settings replace. An endpoint of the same name has the protocols
// that they do not say.
func settled(all []endpoint) []endpoint {
	last := map[string]*endpoint{}
	of := func(e endpoint) string { return cmp.Or(e.addedTo, path.Dir(e.Path)) + ":" + e.key }
	isBefore := func(e, other endpoint) bool {
		return precedence(e.Path, e.addedTo) > precedence(other.Path, other.addedTo)
	}
	for i, e := range all {
		if l := last[of(e)]; e.key != "" && (l == nil || isBefore(e, *l)) {
			last[of(e)] = &all[i]
		}
	}
	for _, e := range all {
		if l := last[of(e)]; l != nil {
			l.protocols = cmp.Or(l.protocols, e.protocols)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(e endpoint) bool {
		l := last[of(e)]
		return l != nil && isBefore(*l, e)
	})
}

// forGRPC returns the endpoints of a program that gRPC, which is HTTP/2, may use, with the defaults in them. Without
// TLS, Kestrel serves HTTP/2 only if it serves nothing else (dotnet/aspnetcore,
// src/Servers/Kestrel/Core/src/Internal/HttpConnection.cs).
func forGRPC(all []endpoint, defaults []kestrelDefaults) []endpoint {
	if isConfigured := func(e endpoint) bool { return !e.isURL }; slices.ContainsFunc(all, isConfigured) {
		all = slices.DeleteFunc(all, func(e endpoint) bool { return e.isURL })
	}
	for i := range all {
		all[i].apply(defaults)
	}
	all = slices.DeleteFunc(all, func(e endpoint) bool { return e.protocols == "Http1" })
	without := func(isWorse func(e endpoint) bool) []endpoint { return slices.DeleteFunc(slices.Clone(all), isWorse) }
	if h2 := without(func(e endpoint) bool { return e.protocols != "Http2" }); len(h2) > 0 {
		// All of them serve gRPC, and those without TLS are reached most easily.
		all = h2
		if plain := without(func(e endpoint) bool { return e.security.Transport != plan.Plaintext }); len(plain) > 0 {
			return plain
		}
		return all
	}
	if tls := without(func(e endpoint) bool { return !e.security.IsTLS() }); len(tls) > 0 {
		return tls
	}
	return all
}

// apply gives an endpoint the defaults of its program.
func (e *endpoint) apply(defaults []kestrelDefaults) {
	for _, d := range defaults {
		if e.protocols == "" {
			e.protocols = d.protocols
		}
		if d.https.Place.Line > 0 && e.security.Transport == plan.Plaintext && !e.isURL {
			e.security = d.https
			e.security.Place = d.Place
		}
	}
	requires := func(d kestrelDefaults) bool { return d.requiresClient }
	if e.security.Transport == plan.TLS && slices.ContainsFunc(defaults, requires) {
		e.security.Transport = plan.MutualTLS
	}
}
