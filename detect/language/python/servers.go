package python

import (
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// servers are the servers that a source constructs.
type servers struct {
	text  *source.Text
	names func() *address.Names
	found []finding.Server
}

// each calls do with the site of the server whose name stands before an offset. If that is a parameter, those are all
// servers that calls give, while the other parameters are what the same call gives. The site is nil if there is one
// server, or if the source does not say which it is.
func (s *servers) each(at int, do func(of *finding.Site)) {
	var given []*finding.Site
	if of := s.before(at); of == nil {
		given = s.given(at)
	}
	if given == nil {
		do(s.before(at))
		return
	}
	i := 0
	s.names().EachCall(s.receiver(at), at, func(source.Span) {
		do(given[i])
		i++
	})
}

// before returns the site of the server whose name stands before an offset; nil if there is one server, or the source
// does not say which it is.
func (s *servers) before(at int) *finding.Site {
	if len(s.found) < 2 {
		return nil
	}
	return analyzer.Receiver(s.names(), s.found, at)
}

// receiver returns the name that stands before an offset.
func (s *servers) receiver(at int) string {
	return string(receiver.Find(s.text.Code[max(0, at-maxCalled):at]))
}

var receiver = lazyregexp.New(`\w+$`)

// given returns the sites of the servers that calls give to the parameter whose name stands before an offset, in their
// order; none if that is no parameter, or if one of the calls does not say which server it gives.
func (s *servers) given(at int) []*finding.Site {
	if len(s.found) < 2 {
		return nil
	}
	var sites []*finding.Site
	areKnown := true
	s.names().EachCall(s.receiver(at), at, func(given source.Span) {
		of := analyzer.Receiver(s.names(), s.found, given.To)
		sites, areKnown = append(sites, of), areKnown && of != nil
	})
	if !areKnown {
		return nil
	}
	return sites
}

var registersHealthWith = lazyregexp.New(`\badd_HealthServicer_to_server\s*\(`)

// tellApart returns findings in which the health services are of the servers that they are registered with. Who only
// makes one does not count then.
func (s *servers) tellApart(found []finding.Finding) []finding.Finding {
	if len(s.found) < 2 {
		return found
	}
	with := map[int][]*finding.Site{}
	all := map[int]bool{} // the lines that register it with each of their servers
	for _, m := range s.text.FindAll(registersHealthWith, address.MaxListeners) {
		if server, ok := s.text.Argument(m[1], 1, "server"); ok {
			line := s.text.Line(m[0])
			with[line] = analyzer.Receivers(s.names(), s.found, server.To)
			all[line] = len(s.given(server.To)) > 0
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
				h.of = of[0]
				if len(of) > 1 && !all[h.Line] { // it may be registered with others too
					h.Site = h.AsUnsure()
				}
			}
			for i := 1; isTold(of) && all[h.Line] && i < len(of); i++ {
				another := h
				another.of = of[i]
				told = append(told, another)
			}
			f = h
		}
		told = append(told, f)
	}
	return told
}
