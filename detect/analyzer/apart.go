package analyzer

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// Listening is a call, in a file, that says where a server listens.
type Listening struct {
	Written string // the address as the file writes it
	Address address.Value
	Of      *finding.Site // the server that it is called for, nil if that is not known
}

// Listener returns the finding of a call. It is the server's own if the servers of the file are told apart.
func (l Listening) Listener(isApart bool) finding.Finding {
	if !isApart {
		l.Of = nil
	}
	return finding.Listener{Site: &finding.Site{Place: l.Address.Place}, Address: l.Address, Of: l.Of}
}

// ServerIn returns the one of a file's servers, by their sites, that stands in the lines of one of the expressions in
// spans; nil if none does.
func ServerIn(text *source.Text, spans []source.Span, servers []finding.Server) *finding.Site {
	for _, s := range spans {
		for _, server := range servers {
			if first, last := text.Line(s.From), text.Line(s.To); first <= server.Line && server.Line <= last {
				return server.Site
			}
		}
	}
	return nil
}

// AreApart reports whether the servers of a file are told apart by where they listen: each call is known to be for a
// server of its own. Calls with one address are branches of one server.
func AreApart(calls []Listening) bool {
	for i, l := range calls {
		for _, other := range calls[:i] {
			target := l.Address.Target()
			if l.Of == other.Of || l.Written == other.Written || target != "" && target == other.Address.Target() {
				return false
			}
		}
	}
	return len(calls) > 1 && !slices.ContainsFunc(calls, func(l Listening) bool { return l.Of == nil })
}
