package jvm

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
)

// apart tells the servers of a source apart, if it makes several that all run, each on an address of its own: what
// stands after the construction of one, and before that of the next, is about that one. Other findings come back as
// they are.
func apart(n *names, found []finding.Finding) []finding.Finding {
	calls := n.calls(found)
	sites := n.sitesOf(calls, found)
	if len(sites) < 2 || !n.runTogether(calls) {
		return found
	}
	// of returns the server that a line is about, nil before all of them.
	of := func(line int) *finding.Site {
		var last *finding.Site
		for _, s := range sites {
			if s.Line <= line {
				last = s
			}
		}
		return last
	}
	var all []finding.Finding
	givesHealth := slices.ContainsFunc(found, func(f finding.Finding) bool {
		h, ok := f.(finding.Health)
		return ok && of(h.Line) != nil
	})
	for _, f := range found {
		switch f := f.(type) {
		case finding.Listener, finding.Security:
		case healthGiven:
			f.of = of(f.Line)
			all = append(all, f)
		case finding.Health:
			if f.Of = of(f.Line); f.Of != nil || !givesHealth {
				all = append(all, f)
			}
		default:
			all = append(all, f)
		}
	}
	for i, call := range calls {
		l := finding.ListenerAt(n.address(call))
		l.Of = sites[i]
		all = append(all, l)
	}
	for _, f := range security(n, found) {
		switch f := f.(type) {
		case finding.Security:
			f.Of = of(f.Line)
			all = append(all, f)
		case builderHanded:
			f.of = of(f.Line)
			all = append(all, f)
		}
	}
	return all
}

// sitesOf returns the sites of the servers that calls make, in the order of lines, or nil if they are not all known,
// and each on a line of its own.
func (n *names) sitesOf(calls []listenCall, found []finding.Finding) []*finding.Site {
	var sites []*finding.Site
	for _, call := range calls {
		line := n.text.Line(call.at)
		for s := range finding.All[finding.Server](found) {
			if s.Line == line && (len(sites) == 0 || sites[len(sites)-1].Line < line) {
				sites = append(sites, s.Site)
			}
		}
	}
	if len(sites) != len(calls) {
		return nil
	}
	return sites
}

// runTogether reports whether calls make servers on different addresses, and none of them only if another does not.
func (n *names) runTogether(calls []listenCall) bool {
	var targets []string
	for i, call := range calls {
		v := n.address(call)
		if v.Certainty == address.Unknown || slices.Contains(targets, v.Target()) ||
			len(n.values().ConditionsAround(call.at, calls[max(0, i-1)].at)) > 0 {
			return false
		}
		targets = append(targets, v.Target())
	}
	return true
}
