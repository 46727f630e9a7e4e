package rust

import (
	"slices"
	"sort"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// transport is how a framework is told where its server listens, and what carries the calls.
type transport struct {
	// listens is a call that says where a server listens.
	listens *lazyregexp.Regexp
	// ends are the bytes after the argument that holds the address: "," if that is the first one, "" if it may
	// be any.
	ends string
	// namesSockets says that the address is a text, which may name a Unix domain socket. Other crates take one of TCP,
	// or a listener that is made of a socket.
	namesSockets bool
	// secures is a call that gives the server its credentials, which are the argument with a number.
	secures     *lazyregexp.Regexp
	number      int
	credentials analyzer.Credentials
}

// serverTLS are the credentials that a call takes which is for TLS alone: those of tonic's ServerTlsConfig
// (tonic/src/transport/server/tls.rs), and rustls' ServerConfig.
var serverTLS = analyzer.Credentials{
	Requires: lazyregexp.New(`\b(?:client_ca_root|with_client_cert_verifier|client_auth_required|` +
		`AllowAnyAuthenticatedClient::\w+)\s*\(`),
	Optional: lazyregexp.New(`\bclient_auth_optional\s*\(\s*[^f\s]|\ballow_unauthenticated\s*\(`),
}

// transports are those of the frameworks.
var transports = map[string]*transport{
	tonic: {
		listens: lazyregexp.New(`\.\s*serve(?:_with_\w+)?\s*\(`), ends: ",",
		secures: lazyregexp.New(`\.\s*tls_config\s*\(`), credentials: serverTLS,
	},
	volo: {
		listens: lazyregexp.New(`\.\s*run\s*\(`), ends: ",",
		secures: lazyregexp.New(`\.\s*tls_config\s*\(`), credentials: serverTLS,
	},
	grpcio: {
		listens: lazyregexp.New(`\.\s*(?:bind(?:_with_\w+)?|add_listening_port)\s*\(`), ends: "",
		namesSockets: true,
		secures: lazyregexp.New(
			`\.\s*(?:bind_with_\w+\s*\([^,()]*(?:\([^()]*\)[^,()]*)*,|add_listening_port\s*\()`),
		number: 1,
		credentials: analyzer.Credentials{
			Plaintext: lazyregexp.New(`\bServerCredentials::insecure\b`),
			TLS:       lazyregexp.New(`\bServerCredentialsBuilder\b|\bCertificateRequestType\b`),
			Requires: lazyregexp.New(`\bRequestAndRequireClientCertificate\w*|` +
				`\broot_cert\s*\([^;]{1,200}?,\s*true\s*\)`),
		},
	},
	poemGRPC: {
		listens: lazyregexp.New(`\b(?:Tcp|Unix)Listener::bind\s*\(`), ends: ",",
		secures: lazyregexp.New(`\.\s*(?:rustls|native_tls|openssl_tls)\s*\(`), credentials: serverTLS,
	},
	connectRPC: {
		listens: lazyregexp.New(`\.\s*serve\s*\(|\bServer::bind\s*\(`), ends: ",",
		secures: lazyregexp.New(`\.\s*with_tls\s*\(`), credentials: serverTLS,
	},
	grpcRust: {
		listens: lazyregexp.New(`\.\s*set_(?:port|addr)\s*\(`), ends: ",",
		secures: lazyregexp.New(`\.\s*set_tls\s*\(`), credentials: serverTLS,
	},
}

// routesTransport is that of axum and of axum_server (axum-server/src/lib.rs).
var routesTransport = &transport{
	listens: lazyregexp.New(`\baxum(?:::serve|::Server::bind|_server::(?:bind|from_tcp)(?:_\w+)?)\s*\(`), ends: ",",
	secures: lazyregexp.New(`\baxum_server::(?:bind|from_tcp)_(?:rustls|openssl)\s*\(`), number: 1,
	credentials: serverTLS,
}

// transportOf returns how the server of a finding is told where it listens; nil for another finding.
func transportOf(f finding.Finding) *transport {
	switch f := f.(type) {
	case finding.Server:
		return transports[f.Framework]
	case routes:
		return routesTransport
	}
	return nil
}

// listeners returns the addresses of the servers that a file makes, and what carries their calls. The calls of each
// kind of server are looked for once, in the order of the findings.
func listeners(names *address.Names, made []construction) []finding.Finding {
	var found []finding.Finding
	var seen []*transport
	for _, c := range made {
		kind := transportOf(c.Finding)
		if kind == nil || slices.Contains(seen, kind) {
			continue
		}
		seen = append(seen, kind)
		same := ofKind(made, kind, names)
		servers := servers{names, kind, same}
		calls := servers.listening()
		var all []analyzer.Listening
		for _, l := range calls {
			all = append(all, l.Listening)
		}
		isApart := analyzer.AreApart(all)
		for _, l := range calls {
			found = append(found, l.finding(isApart))
		}
		if len(calls) == 0 && !isRegistration(same[0].Finding) {
			found = append(found, finding.SecurityAt(same[0].site.Line, plan.Security{})) // it is served elsewhere
		}
		found = append(found, servers.security(isApart)...)
	}
	return found
}

// isRegistration reports whether a finding is no server, but what is given to one elsewhere.
func isRegistration(f finding.Finding) bool {
	r, ok := f.(routes)
	return ok && finding.Is[finding.Registration](r.Finding)
}

// ofKind returns the constructions of one kind of server, with the ends of their statements.
func ofKind(made []construction, kind *transport, names *address.Names) []construction {
	var same []construction
	for _, c := range made {
		if transportOf(c.Finding) == kind && len(same) < address.MaxListeners {
			c.statement.To = itemEnd(names.Code, c.statement.From)
			same = append(same, c)
		}
	}
	return same
}

// servers are those of one kind that a file makes.
type servers struct {
	*address.Names
	kind *transport
	made []construction
}

// listening is a call that says where a server listens, with the fields that it asks for that.
type listening struct {
	analyzer.Listening
	argument source.Span
	fields   []string
}

// finding returns the finding of a call. Settings may say something else of the fields that it asks.
func (l listening) finding(isApart bool) finding.Finding {
	if f, ok := l.Listener(isApart).(finding.Listener); ok && len(l.fields) > 0 {
		return configuredListener{f, l.fields}
	}
	return l.Listener(isApart)
}

// fieldName is a field of something.
var fieldName = lazyregexp.New(`\w\.(\w+)\b`)

// listening returns the calls that say where the servers listen.
func (s servers) listening() []listening {
	var calls []listening
	for _, m := range s.FindAll(s.kind.listens, address.MaxListeners) {
		argument := source.Span{From: m[1], To: s.Until(m[1], s.kind.ends)}
		l := listening{argument: argument, Listening: analyzer.Listening{
			Written: string(s.Raw[argument.From:argument.To]), Address: s.value(m, argument),
		}}
		for _, r := range s.Reach(argument) {
			for _, f := range fieldName.FindAllStringSubmatch(s.Slice(r), address.MaxListeners) {
				l.fields = append(l.fields, "."+f[1])
			}
		}
		if of := s.of(m[0]); of != nil {
			l.Of = of.site
		}
		calls = append(calls, l)
	}
	s.writeOut(calls)
	isOf := func(l listening) bool { return l.Of != nil }
	if len(s.made) == 1 && slices.ContainsFunc(calls, isOf) {
		calls = slices.DeleteFunc(calls, func(l listening) bool { return !isOf(l) }) // those of other servers
	}
	return calls
}

// writeOut adds to an address that a name stands for what the file says of it, if no other call stands in the same
// function: functions have variables of the same name, and in one function they are the branches of a condition.
func (s servers) writeOut(calls []listening) {
	if len(calls) < 2 {
		return
	}
	functions := s.FindAll(function, maxFunctions)
	of, count := make([]int, len(calls)), map[int]int{}
	for i, l := range calls {
		of[i] = sort.Search(len(functions), func(n int) bool { return functions[n][0] > l.argument.From })
		count[of[i]]++
	}
	for i, l := range calls {
		if count[of[i]] > 1 {
			continue
		}
		for _, r := range s.Reach(l.argument) {
			calls[i].Written += "\n" + s.Slice(r)
		}
	}
}

var (
	unixListener = lazyregexp.New(`\bUnixListener::(?:bind(?:_with_\w+)?|new)\s*\(`)
	tcpListener  = lazyregexp.New(`\bTcp(?:Listener|Incoming)\w*::`)
	vsock        = lazyregexp.New(`(?i)vsock`)
)

// value returns the address in the argument of a call that matches. A listener may be made before, and given to it. If
// one on a socket and one of TCP are, it is not known which the server gets.
func (s servers) value(call []int, argument source.Span) address.Value {
	whole := source.Span{From: call[0], To: argument.To}
	socket, isTCP := source.Span{From: -1}, false
	for _, r := range append([]source.Span{whole}, s.Reach(argument)...) {
		code := s.Code[r.From:r.To]
		if m := unixListener.FindIndex(code); m != nil && socket.From < 0 {
			socket = source.Span{From: r.From + m[1], To: s.Until(r.From+m[1], ",")}
		} else if vsock.Match(code) {
			return s.Nothing(argument.From)
		}
		isTCP = isTCP || tcpListener.Match(code)
	}
	switch {
	case socket.From < 0:
		if v := s.Value(argument); v.Host != address.UnixSocket || s.kind.namesSockets {
			return v
		}
		return s.Nothing(argument.From)
	case isTCP:
		return s.Nothing(argument.From)
	}
	return s.SocketAt(socket)
}

// isOfOne reports whether a finding is a listener of one of the servers of its source, which are told apart.
func isOfOne(f finding.Finding) bool {
	if c, ok := f.(configuredListener); ok {
		f = c.Listener
	}
	l, ok := f.(finding.Listener)
	return ok && l.Of != nil
}

// tellHealthApart says of the health services of a source whose servers are told apart which of these get them.
func tellHealthApart(names *address.Names, found []finding.Finding) {
	servers := slices.Collect(finding.All[finding.Server](found))
	for i, f := range found {
		if h, ok := f.(finding.Health); ok && len(servers) > 1 && len(servers) <= address.MaxListeners {
			h.Of = analyzer.UsedBy(names, servers, finding.Offset(h))
			found[i] = h
		}
	}
}
