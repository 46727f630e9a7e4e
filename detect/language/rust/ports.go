package rust

import (
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// listenerCall is a call that says where a server listens.
type listenerCall struct {
	call *regexp.Regexp
	// ends are the bytes behind the argument that holds the address: "," where that is the first one, "" where it may
	// be any.
	ends string
}

// listenerCalls are the calls by the name of the framework whose server they belong to.
var listenerCalls = map[string]listenerCall{
	tonic:      {regexp.MustCompile(`\.\s*serve(?:_with_\w+)?\s*\(`), ","},
	volo:       {regexp.MustCompile(`\.\s*run\s*\(`), ","},
	grpcio:     {regexp.MustCompile(`\.\s*(?:bind|add_listening_port)\s*\(`), ""},
	poemGRPC:   {regexp.MustCompile(`\bTcpListener::bind\s*\(`), ","},
	connectRPC: {regexp.MustCompile(`\.\s*serve\s*\(|\bServer::bind\s*\(`), ","},
	grpcRust:   {regexp.MustCompile(`\.\s*set_(?:port|addr)\s*\(`), ","},
}

// routesListenerCall is the call that serves tonic's Routes, of which axum makes the server.
var routesListenerCall = listenerCall{regexp.MustCompile(`\baxum::serve\s*\(`), ","}

// listeners returns the ports of the servers that a file makes. The calls of each kind of server are looked for once,
// in the order of the findings.
func listeners(d *address.Names, servers []analyzer.Finding) []analyzer.Finding {
	var found []analyzer.Finding
	seen := map[listenerCall]bool{}
	for _, f := range servers {
		l, ok := listenerCallOf(f)
		if !ok || seen[l] {
			continue
		}
		seen[l] = true
		for _, m := range d.FindAll(l.call, address.MaxListeners) {
			where := source.Span{From: m[1], To: d.Until(m[1], l.ends)}
			found = append(found, analyzer.NewOpenListener(d, where, global))
		}
	}
	return found
}

// listenerCallOf returns the call that says where the server of a finding listens.
func listenerCallOf(f analyzer.Finding) (listenerCall, bool) {
	switch {
	case f.Kind == analyzer.ServerConstructed:
		l, ok := listenerCalls[f.Framework]
		return l, ok
	case strings.Contains(f.Excerpt, "Routes"):
		return routesListenerCall, true
	}
	return listenerCall{}, false
}
