package python

import (
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// servers are the servers that a source constructs.
type servers struct {
	text  *source.Text
	names func() *address.Names
	found []finding.Server
}

// before returns the site of the server whose name stands before an offset; nil if there is one server, or the source
// does not say which it is.
func (s *servers) before(at int) *finding.Site {
	if len(s.found) < 2 {
		return nil
	}
	return analyzer.Receiver(s.names(), s.found, at)
}

var registersHealthWith = regexp.MustCompile(`\badd_HealthServicer_to_server\s*\(`)

// tellApart returns findings in which the health services are of the servers that they are registered with. Who only
// makes one does not count then.
func (s *servers) tellApart(found []finding.Finding) []finding.Finding {
	if len(s.found) < 2 {
		return found
	}
	with := map[int][]*finding.Site{}
	for _, m := range s.text.FindAll(registersHealthWith, address.MaxListeners) {
		if server, ok := s.text.Argument(m[1], 1, "server"); ok {
			with[s.text.Line(m[0])] = analyzer.Receivers(s.names(), s.found, server.To)
		}
	}
	isTold := func(of []*finding.Site) bool { return len(of) > 0 && len(of) < len(s.found) }
	areTold := len(with) > 0
	for _, of := range with {
		areTold = areTold && isTold(of)
	}
	var told []finding.Finding
	for _, f := range found {
		if h, ok := f.(healthByModule); ok {
			of, isRegistration := with[h.Line]
			if !isRegistration && areTold {
				continue
			}
			if isTold(of) {
				h.of, h.ofSome = of[0], len(of) > 1
			}
			f = h
		}
		told = append(told, f)
	}
	return told
}
