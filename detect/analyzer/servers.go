package analyzer

import (
	"cmp"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Servers returns a server for each package that constructs a server. In a project where no package does, the
// registrations imply one server, which a helper outside of the project constructs; without registrations, the
// implementations imply one whose framework constructs a server for them. logf gets a line for each piece of evidence,
// and for what is not known.
func Servers[T any](all []*Project[T], logf tree.Logf) []plan.Server {
	var servers []plan.Server
	environments, services := environmentsOf(all), ServicesOf(all)
	for _, p := range all {
		in := serving{p.Packages, shareFindings(p.Dir, p.Packages), environments, services}
		for _, built := range []bool{false, true} {
			servers = append(servers, in.servers(built, logf)...)
		}
	}
	return servers
}

// ServersInFiles is the PostAnalyze of languages whose findings need nothing from outside of their files,
// except which classes implement the health service.
func ServersInFiles(files []File[struct{}], logf tree.Logf) []plan.Server {
	projects := Projects(files, FileIsPackage)
	decideHealth(projects)
	DoubtHealth(projects)
	return Servers(projects, logf)
}

// serving is the packages of a project, and what they share.
type serving struct {
	packages     []*Package
	shared       sharedFindings
	environments environments
	services     Services
}

// servers returns the servers of the sources, or of the built programs. What lies beside the app proper does not decide
// what counts in the app itself.
func (p serving) servers(built bool, logf tree.Logf) []plan.Server {
	var app, aside []*Package
	for _, in := range p.packages {
		switch {
		case in.Built != built:
		case in.isAside():
			aside = append(aside, in)
		default:
			app = append(app, in)
		}
	}
	servers := p.serversOf(app, nil, logf)
	return p.serversOf(aside, servers, logf)
}

// serversOf adds the servers of packages to those that are known. Less than a construction implies a server only if
// there is none.
func (p serving) serversOf(packages []*Package, servers []plan.Server, logf tree.Logf) []plan.Server {
	strength := strengthOf(packages)
	for _, in := range packages {
		proofs := in.proofs(strength)
		if len(proofs) == 0 {
			continue
		}
		in.log(logf)
		if strength < plan.Construction && len(servers) > 0 {
			continue
		}
		for _, server := range proofs {
			servers = append(servers, p.server(in, server, strength, logf))
		}
	}
	if strength == plan.Construction {
		servers = append(servers, p.servedBesides(packages, logf)...)
	}
	return servers
}

// servedBesides returns a server for each framework that makes one for implementations, if the servers that are
// constructed are those of other frameworks.
func (p serving) servedBesides(packages []*Package, logf tree.Logf) []plan.Server {
	makes := map[string]bool{}
	for _, in := range packages {
		for s := range finding.All[finding.Server](in.Findings) {
			makes[s.Framework] = true
		}
	}
	var servers []plan.Server
	for _, in := range packages {
		if finding.Has[finding.Server](in.Findings) {
			continue // it constructs the server for what it implements
		}
		for _, server := range in.proofs(plan.Implementation) {
			if !makes[server.framework] {
				makes[server.framework] = true
				in.log(logf)
				servers = append(servers, p.server(in, server, plan.Implementation, logf))
			}
		}
	}
	return servers
}

// server returns the server of a package that a finding of a strength proves.
func (p serving) server(in *Package, proof proof, strength plan.Strength, logf tree.Logf) plan.Server {
	s := plan.Server{Framework: proof.framework, Evidence: proof.Place, Built: in.Built, Strength: strength}
	if proof.inMain {
		s.Strength = plan.MainConstruction
	}
	s.Address = p.address(in, proof)
	s.Security = p.security(in, proof, strength)
	p.setHealth(&s, in, proof)
	p.explain(s, in, proof, logf)
	return s
}

// strengthOf returns the strongest evidence of servers that packages have.
func strengthOf(packages []*Package) plan.Strength {
	for _, strength := range []plan.Strength{plan.Construction, plan.Registration} {
		has := func(in *Package) bool { return len(in.proofs(strength)) > 0 }
		if slices.ContainsFunc(packages, has) {
			return strength
		}
	}
	return plan.Implementation
}

// proof is the finding that proves a server.
type proof struct {
	*finding.Site
	framework               string
	inMain, automaticHealth bool
}

// proofs returns the findings of the package that prove a server by evidence of a strength: the servers that have
// listeners of their own, or else the first one. A construction in main goes before others.
func (in *Package) proofs(strength plan.Strength) []proof {
	var all, listening []proof
	listens := map[*finding.Site]bool{}
	for l := range finding.All[finding.Listener](in.Findings) {
		listens[l.Of] = true
	}
	for _, f := range in.Findings {
		p, of := proofOf(f)
		if of != strength || p.Site == nil {
			continue
		}
		all = append(all, p)
		if listens[p.Site] {
			listening = append(listening, p)
		}
	}
	first := func(ps []proof) {
		slices.SortStableFunc(ps, func(a, b proof) int { return plan.CompareBool(b.inMain, a.inMain) })
	}
	if first(all); len(listening) == 0 {
		return all[:min(len(all), 1)]
	}
	first(listening)
	return listening
}

// proofOf returns what a finding proves of a server, and how strongly. The site is nil if it proves none.
func proofOf(f finding.Finding) (proof, plan.Strength) {
	switch f := f.(type) {
	case finding.Server:
		return proof{f.Site, f.Framework, f.InMain, f.AutomaticHealth}, plan.Construction
	case finding.Registration:
		return proof{f.Site, f.Framework, false, f.AutomaticHealth}, plan.Registration
	case finding.Implementation:
		if f.Served {
			return proof{f.Site, f.Framework, false, f.AutomaticHealth}, plan.Implementation
		}
	}
	return proof{}, plan.Implementation
}

// log prints the evidence that a package holds.
func (in *Package) log(logf tree.Logf) {
	for _, f := range in.Findings {
		finding.Log(f, logf)
	}
}

// setHealth looks for a registration in the server's own package, then in the packages of its project that make no
// server: a registration beside another server belongs to that one. If an option turns it on, that is not known, and
// the place is where it would be registered.
func (p serving) setHealth(s *plan.Server, in *Package, server proof) {
	shared := p.shared.of(server.Path)
	f, ok := healthOf(in.Findings, server.Site)
	if !ok {
		f, ok = finding.First[finding.Health](shared)
		ok = ok && (f.Of == nil || f.Of == server.Site)
	}
	registered := p.askedOf(in, server, f)
	disabled := finding.Has[finding.HealthDisabled](in.Findings) || finding.Has[finding.HealthDisabled](shared)
	switch {
	case server.automaticHealth && !disabled && (!ok || f.IsUnsure() || registered.isUnknown):
		s.Health, s.HealthEvidence = plan.HealthAutomatic, server.Place
		p.askedOf(in, server, finding.Health{}).set(s)
	case ok && f.IsUnsure():
		s.HealthEvidence = f.Place
		asked{Probes: registered.Probes}.set(s)
	case ok:
		s.Health, s.HealthEvidence = plan.HealthRegistered, f.Place
		registered.set(s)
	default:
		for elsewhere := range finding.All[finding.HealthElsewhere](in.Findings) {
			if elsewhere.Of == nil || elsewhere.Of == server.Site {
				s.HealthEvidence = elsewhere.Place
				return
			}
		}
		s.Health = plan.HealthMissing
	}
}

// address returns the one address that the server is given; if it is given none, the one that the package names; if
// that names none, the one that packages without a server name which belong to this server alone, such as settings
// files. It is not known if several are named, or one that is not known.
func (p serving) address(in *Package, server proof) address.Address {
	return p.environments.replace(only(stated[finding.Listener](p, in, server)), server.Path)
}

// security returns the one security that is stated, looked for as an address is. A server whose construction is seen,
// and of which nothing is stated, is one without TLS, as all frameworks have it by default.
func (p serving) security(in *Package, server proof, strength plan.Strength) plan.Security {
	all := stated[finding.Security](p, in, server)
	if len(all) == 0 && strength != plan.Registration && !in.Built {
		return plan.Security{Transport: plan.Plaintext}
	}
	if isOfPackage(all) && len(all) < in.constructions() {
		// Another server of the file may be the one that runs, of which nothing is stated.
		all = append(all, finding.Security{Site: server.Quiet(), Says: plan.Security{Transport: plan.Plaintext}})
	}
	return onlySecurity(all)
}

func isOfPackage(all []finding.Security) bool { return len(all) > 0 && all[0].Of == nil }

// constructions returns how many servers a package constructs.
func (in *Package) constructions() int {
	n := 0
	for range finding.All[finding.Server](in.Findings) {
		n++
	}
	return n
}

// stated returns what findings of a type state of a server: its own, or else those of its package, or else those that
// are shared with it.
func stated[F finding.Stated](p serving, in *Package, server proof) []F {
	var own, ofPackage []F
	for f := range finding.All[F](in.Findings) {
		switch f.Server() {
		case server.Site:
			own = append(own, f)
		case nil:
			ofPackage = append(ofPackage, f)
		}
	}
	switch {
	case len(own) > 0:
		return own
	case len(ofPackage) > 0:
		return ofPackage
	}
	return slices.Collect(finding.All[F](p.shared.of(server.Path)))
}

// onlySecurity returns the security that all findings state, as it is stated first: TLS if other credentials beside it
// may be a name for the same. Of findings that differ none is known to hold.
func onlySecurity(stated []finding.Security) plan.Security {
	isTLS := func(f finding.Security) bool { return f.Says.Transport == plan.TLS }
	if slices.ContainsFunc(stated, isTLS) {
		stated = slices.DeleteFunc(slices.Clone(stated), func(f finding.Security) bool {
			return f.Says.Transport == plan.UnknownTransport
		})
	}
	var only plan.Security
	for i, f := range stated {
		switch {
		case i == 0:
			only = plan.Security{Transport: f.Says.Transport, Place: cmp.Or(f.Says.Place, f.Place)}
		case f.Says.Transport != only.Transport:
			only.Transport = plan.UnknownTransport
		}
	}
	return only
}

// only returns the one address that listeners have, as it is written first. To say that it is a socket, its path need
// not be known. Listeners that the server may not have do not count.
func only(listeners []finding.Listener) address.Address {
	var only address.Address
	listeners = slices.DeleteFunc(listeners, func(l finding.Listener) bool { return l.IsUnsure() })
	for i, l := range listeners {
		a := l.Address
		if a.Place.Path = l.Path; !a.IsKnown() && a.Host != address.UnixSocket {
			return address.Address{}
		}
		isSame := a.Target() == only.Target() && a.Variable == only.Variable &&
			(a.Host == address.UnixSocket) == (only.Host == address.UnixSocket)
		switch {
		case i == 0:
			only = a
		case !isSame:
			return address.Address{}
		}
	}
	return only
}
