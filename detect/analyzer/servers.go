package analyzer

import (
	"cmp"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Servers returns a server for each package that constructs a server. In a project without such a package,
// registrations imply one server, which a helper outside of the project constructs. Without registrations,
// implementations imply one server, which their framework constructs. logf gets a line for each piece of evidence, and
// for each unknown.
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

// ServersInFiles is the PostAnalyze of a language in which the findings of a file need no other file, except for the
// classes that implement the health service.
func ServersInFiles(files []File[struct{}], logf tree.Logf) []plan.Server {
	projects := Projects(files, FileIsPackage)
	decideHealth(projects)
	DoubtHealth(projects)
	return Servers(projects, logf)
}

// serving holds the packages of a project and their shared findings.
type serving struct {
	packages     []*Package
	shared       sharedFindings
	environments environments
	services     Services
}

// servers returns the servers of the sources, or of the built programs. Packages beside the app proper do not change
// the servers in the app itself.
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

// maxServers bounds the servers of a package: the search for each server reads all findings of the package.
const maxServers = 64

// serversOf adds the servers of packages to the known servers. Evidence below a construction implies a server only if
// no server is known.
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
		if len(proofs) > maxServers {
			logf("of %d servers of a package, from %s on, %d are looked at", len(proofs), proofs[0].Place, maxServers)
			proofs = proofs[:maxServers]
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

// servedBesides returns a server for each framework that makes a server for implementations and has no constructed
// server.
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
			continue // the package constructs the server for its implementations
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

// strengthOf returns the strongest evidence in packages.
func strengthOf(packages []*Package) plan.Strength {
	for _, strength := range []plan.Strength{plan.Construction, plan.Registration} {
		has := func(in *Package) bool { return len(in.proofs(strength)) > 0 }
		if slices.ContainsFunc(packages, has) {
			return strength
		}
	}
	return plan.Implementation
}

type proof struct {
	*finding.Site
	framework               string
	inMain, automaticHealth bool
}

// proofs returns the findings of the package that prove a server with evidence of a strength: all servers with their
// own listeners, or else the first server. Constructions in main come first.
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

// proofOf returns a finding as a proof, and the strength of the proof. The site is nil if the finding proves no server.
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

func (in *Package) log(logf tree.Logf) {
	for _, f := range in.Findings {
		finding.Log(f, logf)
	}
}

// setHealth looks for a registration in the package of the server, then in the packages of the project that make no
// server: a registration beside another server belongs to the other server. If an option turns the service on, the
// health is unknown, and HealthEvidence is the place of the registration.
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

// address returns the one address of the server's listeners. The server's own listeners go first, then listeners of the
// package, then listeners of packages without a server, such as settings files, in a directory with this server alone.
// The address is unknown if listeners differ or if a listener has no known address.
func (p serving) address(in *Package, server proof) address.Address {
	return p.environments.replace(only(stated[finding.Listener](p, in, server)), server.Path)
}

// security returns the one stated security, from the same places as the address. A server with a visible construction
// and no stated security is without TLS, the default of all frameworks.
func (p serving) security(in *Package, server proof, strength plan.Strength) plan.Security {
	all := stated[finding.Security](p, in, server)
	if len(all) == 0 && strength != plan.Registration && !in.Built {
		return plan.Security{Transport: plan.Plaintext}
	}
	if isOfPackage(all) && len(all) < in.constructions() {
		// The app may run another server of the package, without a stated security.
		all = append(all, finding.Security{Site: server.Quiet(), Says: plan.Security{Transport: plan.Plaintext}})
	}
	return onlySecurity(all)
}

func isOfPackage(all []finding.Security) bool { return len(all) > 0 && all[0].Of == nil }

func (in *Package) constructions() int {
	n := 0
	for range finding.All[finding.Server](in.Findings) {
		n++
	}
	return n
}

// stated returns the findings of a type about a server: its own findings, or else findings about the package, or else
// findings shared with the server.
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

// onlySecurity returns the security that all findings state, at the place of the first. TLS goes before unknown
// credentials, which may be another name for TLS. If findings differ, the transport is unknown.
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

// only returns the one address of all listeners, as written first. A Unix socket needs no known path. Unsure listeners
// do not count.
func only(listeners []finding.Listener) address.Address {
	var only address.Address
	listeners = slices.DeleteFunc(listeners, func(l finding.Listener) bool { return l.IsUnsure() })
	for i, l := range listeners {
		a := l.Address
		if a.Place.Path = cmp.Or(a.Place.Path, l.Path); !a.IsKnown() && a.Host != address.UnixSocket {
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
