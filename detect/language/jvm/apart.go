package jvm

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
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
	servers := slices.Collect(finding.All[finding.Server](found))
	of := func(f finding.Finding) *finding.Site { return n.serverAbout(f, servers) }
	var all []finding.Finding
	givesHealth := slices.ContainsFunc(found, func(f finding.Finding) bool {
		h, ok := f.(finding.Health)
		return ok && of(h) != nil
	})
	for _, f := range found {
		switch f := f.(type) {
		case finding.Listener, finding.Security:
		case finding.HealthMade:
			f.Of = of(f)
			all = append(all, f)
		case finding.Health:
			if f.Of = of(f); f.Of != nil || !givesHealth {
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
			f.Of = of(f)
			all = append(all, f)
		case builderHanded:
			f.of = of(f)
			all = append(all, f)
		}
	}
	return all
}

// serverAbout returns the server that a finding is about: the one that is made in the same function, or else the last
// one that is made before it, nil before all of them.
func (n *names) serverAbout(f finding.Finding, servers []finding.Server) *finding.Site {
	if at := finding.Offset(f); at > 0 {
		if own := analyzer.InFunction(n.values(), servers, at); own != nil {
			return own
		}
	}
	var last *finding.Site
	for _, s := range servers {
		if s.Line <= finding.Where(f).Line {
			last = s.Site
		}
	}
	return last
}

// isParameter is an expression that may be a parameter.
var isParameter = source.Exactly(`[a-z]\w*`)

// conditionsOfFunction returns the conditions on which the functions are called that the code at two offsets stands in,
// if these are not the same.
func (n *names) conditionsOfFunction(at, other int) []source.Span {
	return append(n.values().ConditionsOfFunction(at, other), n.values().ConditionsOfFunction(other, at)...)
}

// listening returns where calls listen, none if one is made on a condition, or its function is called on one. Where an
// address is not known, two that are written alike may be the same one, unless two functions have it for a parameter.
func (n *names) listening(calls []listenCall, found []finding.Finding) []analyzer.Listening {
	servers := slices.Collect(finding.All[finding.Server](found))
	var all []analyzer.Listening
	for i, call := range calls {
		before := calls[max(0, i-1)].at
		conditions := append(n.values().ConditionsAround(call.at, before), n.conditionsOfFunction(call.at, before)...)
		if len(conditions) > 0 {
			return nil
		}
		v := n.address(call)
		written := v.Target()
		if v.Certainty == address.Unknown {
			last := call.arguments[len(call.arguments)-1]
			written = n.text.Slice(source.Span{From: call.arguments[0].From, To: last.To})
			if isParameter.MatchString(written) {
				written = n.values().FunctionOf(call.at) + " " + written
			}
		}
		at := source.Span{From: call.at, To: call.at}
		all = append(all, analyzer.Listening{
			Written: written, Address: v, Of: analyzer.ServerIn(n.text, []source.Span{at}, servers),
		})
	}
	return all
}
