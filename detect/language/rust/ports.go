package rust

import (
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
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

// listeners returns the addresses of the servers that a file makes. The calls of each kind of server are looked for
// once, in the order of the findings.
func listeners(names *address.Names, servers []finding.Finding) []finding.Finding {
	var found []finding.Finding
	seen := map[listenerCall]bool{}
	for _, f := range servers {
		l, ok := listenerCallOf(f)
		if !ok || seen[l] {
			continue
		}
		seen[l] = true
		for _, m := range names.FindAll(l.call, address.MaxListeners) {
			where := source.Span{From: m[1], To: names.Until(m[1], l.ends)}
			found = append(found, finding.ListenerAt(names.Value(where)))
		}
	}
	return found
}

// listenerCallOf returns the call that says where the server of a finding listens.
func listenerCallOf(f finding.Finding) (listenerCall, bool) {
	switch f := f.(type) {
	case finding.Server:
		l, ok := listenerCalls[f.Framework]
		return l, ok
	case routes:
		return routesListenerCall, true
	}
	return listenerCall{}, false
}
