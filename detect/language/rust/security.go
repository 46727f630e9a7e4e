package rust

import (
	"bytes"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// construction is a finding in the code, with its offset and with the end of its statement.
type construction struct {
	finding.Finding
	site      *finding.Site
	statement source.Span
}

// receiver is the name, in a statement up to a call, of which methods are called one after the other.
var receiver = lazyregexp.New(`(?:^|[\s=(])(\w+)(?:\s*\.\s*\w+\s*\([^;{}]*)?\s*$`)

// of returns the server that a method is called of at an offset: the one in whose statement the call stands, or that
// the name before it was declared with. It is nil if that is not known.
func (s servers) of(call int) *construction {
	for i := len(s.made) - 1; i >= 0; i-- {
		if c := &s.made[i]; c.statement.Contains(call) {
			return c
		}
	}
	from := max(0, call-maxStatement)
	from += bytes.LastIndexAny(s.Code[from:call], ";{}") + 1
	name := receiver.FindSubmatchIndex(s.Code[from:call])
	if name == nil {
		return nil
	}
	for _, r := range s.Reach(source.Span{From: from + name[2], To: from + name[3]}) {
		for i := range s.made {
			if r.Contains(s.made[i].statement.From) {
				return &s.made[i]
			}
		}
	}
	return nil
}

var (
	// clientTLS is in what a client is given, and maybeClient in files that may give it something.
	clientTLS   = lazyregexp.New(`\bClientTlsConfig\b`)
	maybeClient = lazyregexp.New(`\bClientTlsConfig\b|\bEndpoint\b|\bChannel\b`)
	serverWords = lazyregexp.New(`\bServerTlsConfig\b|\bServerConfig\b|\bIdentity\b`)
	// plainListener accepts connections without TLS.
	plainListener = lazyregexp.New(`\b(?:Tcp|Unix|Vsock)(?:Listener|Incoming)\w*::`)
	// acceptsTLS is in what makes connections with TLS, to be given to a server.
	acceptsTLS = lazyregexp.New(`(?i)tls_?(?:acceptor|incoming|listener|stream)|\bSslAcceptor\b|\baccept_tls\b`)
	// takesConnections begins a call that is given connections or a listener, and no address.
	takesConnections = lazyregexp.New(`^(?:\.serve_with_incoming|axum::serve\b)`)
	// givesAcceptor gives a server of axum_server what accepts its connections.
	givesAcceptor = lazyregexp.New(`\.\s*acceptor\s*\(`)
)

// security returns what carries the calls of the servers. If they are told apart each has its own.
func (s servers) security(isApart bool) []finding.Finding {
	var found []finding.Finding
	secured := map[*finding.Site]bool{}
	add := func(of *construction, at int, says plan.Security) {
		f := finding.SecurityAt(s.Line(at), says)
		if isApart && of != nil {
			f.Of = of.site
		}
		if of != nil {
			secured[of.site] = true
		}
		found = append(found, f)
	}
	if s.kind.secures != nil {
		for _, m := range s.FindAll(s.kind.secures, address.MaxListeners) {
			given, _ := s.Argument(m[1], s.kind.number)
			of := s.of(m[0])
			if s.isClients(given, of) {
				continue
			}
			server := 0 // not known: any condition decides
			if of != nil {
				server = of.statement.From
			}
			if attributes := compiled(s.Text, m[0]); attributes != nil {
				add(of, m[0], plan.Security{Setting: featureOf(s.Text, attributes[0])})
				continue
			}
			if conditions := s.conditionsOfCalls(m[0], of); len(conditions) > 0 {
				add(of, m[0], plan.Security{Setting: analyzer.Setting(s.Names, conditions)})
				continue
			}
			add(of, m[0], s.kind.credentials.Of(s.Names, given, server))
		}
	}
	for _, m := range s.FindAll(s.kind.listens, address.MaxListeners) {
		if s.takesUnknown(m) {
			setting := analyzer.Setting(s.Names, s.ConditionsAround(m[0], 0))
			add(s.of(m[0]), m[0], plan.Security{Setting: setting})
		}
	}
	return append(found, s.withoutSecurity(len(found) > 0 && !isApart, secured)...)
}

var (
	// cfg is an attribute by which code is compiled or not, before a statement or a block that begins with it, and
	// feature what decides.
	cfg     = lazyregexp.New(`#\[\s*cfg\s*\([^\]]*\](?:[^;{}]*\{)?[^;{}]*$`)
	feature = lazyregexp.New(`feature\s*=\s*"([\w-]+)"`)
)

// maxStatement is how many bytes of a statement before a call are looked at.
const maxStatement = 4 << 10

// compiled returns the attribute by which the statement with a call is compiled or not, none if it always is.
func compiled(t *source.Text, call int) []source.Span {
	from := max(0, call-maxStatement)
	m := cfg.FindIndex(t.Code[from:call])
	if m == nil {
		return nil
	}
	return []source.Span{{From: from + m[0], To: from + m[1]}}
}

// featureOf returns the feature that an attribute asks for, as users are told of it.
func featureOf(t *source.Text, attribute source.Span) string {
	if name := feature.FindSubmatch(t.Raw[attribute.From:attribute.To]); name != nil {
		return "the feature " + string(name[1])
	}
	return ""
}

// conditionsOfCalls returns the conditions by which the function is called that gives TLS to a server, which is made
// elsewhere.
func (s servers) conditionsOfCalls(at int, of *construction) []source.Span {
	var all []source.Span
	for _, m := range s.FindAll(function, address.MaxListeners) {
		body, ok := functionBody(s.Text, m[1])
		if ok && body.Contains(at) && (of == nil || !body.Contains(of.statement.From)) {
			all = append(all, s.ConditionsOfCalls(s.Slice(source.Span{From: m[2], To: m[3]}), m[2], 0)...)
		}
	}
	return all
}

// takesUnknown reports whether a call gives a server connections that may have TLS: it is seen that they have, or it is
// not seen where they come from.
func (s servers) takesUnknown(call []int) bool {
	if s.kind == routesTransport && givesAcceptor.Match(s.Code) {
		return true
	}
	isSeen := !takesConnections.MatchString(s.Slice(source.Span{From: call[0], To: call[1]}))
	for _, r := range s.Reach(source.Span{From: call[1], To: s.Until(call[1], "")}) {
		code := s.Code[r.From:r.To]
		if acceptsTLS.Match(code) {
			return true
		}
		isSeen = isSeen || plainListener.Match(code)
	}
	return !isSeen
}

// isClients reports whether credentials are those of a client, or may be since nothing says whose they are.
func (s servers) isClients(given source.Span, of *construction) bool {
	var reached [][]byte
	for _, r := range s.Reach(given) {
		reached = append(reached, s.Code[r.From:r.To])
	}
	code := bytes.Join(reached, []byte("\n"))
	return clientTLS.Match(code) || of == nil && !serverWords.Match(code) && maybeClient.Match(s.Code)
}

// withoutSecurity returns that servers have no TLS which are given none, beside those that are: branches of one server.
// What decides is what stands before them.
func (s servers) withoutSecurity(beside bool, secured map[*finding.Site]bool) []finding.Finding {
	var found []finding.Finding
	var conditions []source.Span
	for _, c := range s.made {
		conditions = append(conditions, s.ConditionsAround(c.statement.From, 0)...)
	}
	for _, c := range s.made {
		if beside && len(secured) > 0 && !secured[c.site] {
			says := plan.Security{Transport: plan.Plaintext, Setting: analyzer.Setting(s.Names, conditions)}
			found = append(found, finding.SecurityAt(c.site.Line, says))
		}
	}
	return found
}
