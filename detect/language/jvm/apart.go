package jvm

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// apart tells the servers of a source apart, if it makes several that all run, each on an address of its own: what
// stands after the construction of one, and before that of the next, is about that one. Other findings come back as
// they are.
func apart(n *names, found []finding.Finding) []finding.Finding {
	listening := n.listening(n.calls(found), found)
	if !analyzer.AreApart(listening) {
		return found
	}
	// of returns the server that a line is about, nil before all of them.
	of := func(line int) *finding.Site {
		var last *finding.Site
		for _, l := range listening {
			if l.Of.Line <= line {
				last = l.Of
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
		case finding.HealthMade:
			f.Of = of(f.Line)
			all = append(all, f)
		case finding.Health:
			if f.Of = of(f.Line); f.Of != nil || !givesHealth {
				all = append(all, f)
			}
		default:
			all = append(all, f)
		}
	}
	for _, l := range listening {
		all = append(all, l.Listener(true))
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

// listening returns where calls listen, none if the address of one is not known, or if one is made on a condition.
func (n *names) listening(calls []listenCall, found []finding.Finding) []analyzer.Listening {
	servers := slices.Collect(finding.All[finding.Server](found))
	var all []analyzer.Listening
	for i, call := range calls {
		v := n.address(call)
		if v.Certainty == address.Unknown || len(n.values().ConditionsAround(call.at, calls[max(0, i-1)].at)) > 0 {
			return nil
		}
		at := source.Span{From: call.at, To: call.at}
		all = append(all, analyzer.Listening{
			Written: v.Target(), Address: v, Of: analyzer.ServerIn(n.text, []source.Span{at}, servers),
		})
	}
	return all
}
