package golang

import (
	"cmp"
	"go/ast"
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/values"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// decide replaces the findings of the files by what they are together. What is of a server in another package moves
// there.
func (f *flow) decide(files []analyzer.File[Extra]) {
	f.nameStatuses(files)
	moved, healthy := map[string][]finding.Finding{}, map[string]bool{}
	for _, file := range files {
		for h := range finding.All[finding.Health](file.Findings) {
			healthy[path.Dir(file.Path)] = healthy[path.Dir(file.Path)] || f.of[h.Site] != nil
		}
	}
	for i, file := range files {
		addresses := f.addressesIn(file)
		var decided []finding.Finding
		for _, found := range file.Findings {
			for _, is := range f.decided(found, addresses) {
				switch server := serverOf(is); {
				case isOfOther(is, healthy[path.Dir(file.Path)]):
				case server != nil && path.Dir(server.Path) != path.Dir(file.Path):
					moved[server.Path] = append(moved[server.Path], is)
				default:
					decided = append(decided, is)
				}
				decided = append(decided, f.securityOf(is)...)
			}
		}
		files[i].Findings = decided
	}
	for i, file := range files {
		files[i].Findings = append(files[i].Findings, moved[file.Path]...)
	}
}

// isOfOther reports whether a finding is the registration of the health service with a server that is not known, in a
// package that registers it with one that is.
func isOfOther(found finding.Finding, healthy bool) bool {
	h, ok := found.(finding.Health)
	return ok && healthy && h.Of == nil
}

// serverOf returns the server that a finding is of, or nil.
func serverOf(found finding.Finding) *finding.Site {
	switch found := found.(type) {
	case finding.Health:
		return found.Of
	case finding.Listener:
		return found.Of
	case finding.HealthElsewhere:
		return found.Of
	}
	return nil
}

// decided returns what a finding is: several listeners, if several servers are given it, or nothing.
func (f *flow) decided(found finding.Finding, in addresses) []finding.Finding {
	switch found := found.(type) {
	case call:
		return f.called(found)
	case finding.Server:
		if f.same[found.Site] != nil {
			return nil
		}
	case finding.Health:
		found.Of = f.the(f.of[found.Site])
		if f.unsure[found.Site] {
			found.Site = found.AsUnsure()
		}
		return []finding.Finding{found}
	case listener:
		return f.listened(found, in)
	}
	return []finding.Finding{found}
}

// listened returns what a listener is: one of each of the servers that are given it.
func (f *flow) listened(l listener, in addresses) []finding.Finding {
	if by, ok := f.served[l.Site]; ok {
		l.by = by
	}
	given := f.given[l.Site]
	if handles := f.the(f.of[l.Site]); handles != nil && !f.listening[handles] && l.by == plainHTTP {
		l.says, l.of = f.addressOf(l, in, values.Made{}), handles
		return []finding.Finding{l}
	}
	if len(given) == 0 {
		given = append(given, handedOn{by: l.by})
	}
	var all []finding.Finding
	isOverTLS := l.overTLS
	for _, to := range given {
		l.by, l.of, l.overTLS = to.by, f.the(to.server), isOverTLS || to.overTLS
		l.says = f.addressOf(l, in, to.made)
		if e := in.expressions[l.address]; l.says.Host == address.UnixSocket && !f.IsExecuted(in.in, e, to.made) {
			continue // by default it listens elsewhere
		}
		f.settle(l, in, to.made)
		if l.of != nil && l.by != plainHTTP {
			all = append(all, l.finding())
		} else {
			all = append(all, l)
		}
	}
	return all
}

// called returns what a call is by itself, if it is something.
func (f *flow) called(c call) []finding.Finding {
	switch {
	case c.kind == mayRegisterHealth && f.of[c.Site] != nil:
		return []finding.Finding{finding.HealthElsewhere{Site: c.Site, Of: f.the(f.of[c.Site])}}
	case (c.kind == handlesHTTP || c.kind == handlesOfServer) && f.handled[c.Site]:
		return []finding.Finding{handledByHTTP{c.Site}}
	case c.kind == makesByConfiguration && f.secured[c.Site] != plan.Security{}:
		return []finding.Finding{finding.Server{Site: c.Site, Framework: grpcGo}}
	case f.secured[c.Site] == plan.Security{}:
	case c.kind == servesTLS, c.kind == givesListener && f.served[c.Site] == plainHTTP:
		return []finding.Finding{servedTLS{c.Site, f.secured[c.Site]}}
	case c.kind == addsOptions, c.kind == givesListener:
		return []finding.Finding{finding.Security{Site: c.Site, Says: f.secured[c.Site]}}
	}
	return nil
}

// optionsOf returns the site of what makes a server, and where the options begin among the arguments of the call that
// makes it. Other frameworks take none.
func optionsOf(found finding.Finding) (server *finding.Site, first int) {
	switch found := found.(type) {
	case kitexServer:
		return found.Site, 1
	case kitexBareServer:
		return found.Site, 0
	case finding.Server:
		switch found.Framework {
		case grpcGo, kratos, goMicro:
			return found.Site, 0
		case yarpc:
			return found.Site, 1
		}
	}
	return nil, 0
}

// securityOf returns what the calls that make a server say of the security of its transport, nil for nothing.
func (f *flow) securityOf(found finding.Finding) []finding.Finding {
	server, first := optionsOf(found)
	constructor, isCalled := f.made[server]
	if server == nil {
		return nil
	}
	if by, ok := f.secured[server]; ok && !isCalled {
		return []finding.Finding{finding.Security{Site: server.Quiet(), Says: by, Of: server}}
	}
	if !isCalled {
		return nil
	}
	constructors := []values.Constructor{constructor}
	for other := range f.same {
		if f.the(other) == server {
			constructors = append(constructors, f.made[other])
		}
	}
	slices.SortFunc(constructors, func(a, b values.Constructor) int { return cmp.Compare(a.Call.Pos(), b.Call.Pos()) })
	for i := range constructors {
		constructors[i].FirstOption = first
	}
	says := f.Security(constructors)
	by, isKnown := f.secured[server]
	if says == (plan.Security{Transport: plan.Plaintext}) {
		if over := f.mayGet(server); isKnown {
			says = by
		} else if over != nil && isGRPCGo(found) {
			says = plan.Security{Place: over.Place}
		}
	}
	if says == (plan.Security{Transport: plan.Plaintext}) {
		return nil
	}
	return []finding.Finding{finding.Security{Site: server.Quiet(), Says: says, Of: server}}
}

// isGRPCGo reports whether a finding is a server of grpc-go, which something else has to give a listener.
func isGRPCGo(found finding.Finding) bool {
	server, ok := found.(finding.Server)
	return ok && server.Framework == grpcGo
}

// finding returns the listener as all languages have it.
func (l listener) finding() finding.Listener {
	says := l.says
	if says.Place == (plan.Place{}) {
		says.Place = l.Place
	}
	of := finding.ListenerAt(address.Value{Address: says})
	of.Of = l.of
	return of
}

// addresses are the expressions of a file that state the addresses of its listeners, and their networks.
type addresses struct {
	in          *values.Source
	expressions map[source.Span]ast.Expr
}

// addressesIn returns the expressions of the listeners in a file.
func (f *flow) addressesIn(file analyzer.File[Extra]) addresses {
	in := f.parsed[file.Path]
	if in == nil || !finding.Has[listener](file.Findings) {
		return addresses{}
	}
	var spans []source.Span
	for l := range finding.All[listener](file.Findings) {
		spans = append(spans, l.address, l.network)
	}
	return addresses{in, in.ExpressionsAt(spans)}
}

// addressOf returns the address of a listener that is made in a way.
func (f *flow) addressOf(l listener, stated addresses, made values.Made) address.Address {
	e := stated.expressions[l.address]
	if e == nil {
		return address.Address{}
	}
	return f.Address(stated.in, stated.expressions[l.network], e, made)
}
