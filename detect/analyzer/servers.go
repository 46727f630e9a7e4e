package analyzer

import (
	"iter"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Servers returns a server for each package that constructs a server. In a project where no package does, the
// registrations imply one server, which a helper outside of the project constructs; without registrations, the
// implementations imply one whose framework constructs a server for them. logf gets a line for each piece of evidence.
// Other projects may declare names too.
func Servers[T any](all []*Project[T], logf tree.Logf, declaring ...*Project[T]) []plan.Server {
	if declaring == nil {
		declaring = all
	}
	return ServersIn(Graph(declaring), all, logf)
}

// ServersIn is [Servers] for a language that asks the graph of what its projects declare itself, or whose graph knows
// modules.
func ServersIn[T any](graph *address.Graph, all []*Project[T], logf tree.Logf) []plan.Server {
	var servers []plan.Server
	for _, p := range all {
		in := serving{p.Dir, p.Packages, shareFindings(p.Packages), graph}
		servers = append(servers, in.servers(false, logf)...)
		servers = append(servers, in.servers(true, logf)...)
	}
	return servers
}

// ServersInFiles is the PostAnalyze of languages whose findings need nothing from outside of their files.
func ServersInFiles(files []File[struct{}], logf tree.Logf) []plan.Server {
	return Servers(Projects(files, FileIsPackage), logf)
}

// Graph returns the graph of what the files of projects declare.
func Graph[T any](projects []*Project[T]) *address.Graph {
	graph := address.NewGraph()
	for _, p := range projects {
		for _, f := range p.Files {
			graph.Add(p.Dir, f.Path, f.Declares)
		}
	}
	return graph
}

// serving is the packages of a project, and what they share.
type serving struct {
	project  string // its directory
	packages []*Package
	shared   sharedFindings
	graph    *address.Graph
}

// servers returns the servers of the sources, or of the built programs.
func (p serving) servers(built bool, logf tree.Logf) []plan.Server {
	strength := p.strength(built)
	var servers []plan.Server
	for _, in := range p.packages {
		server, ok := in.server(strength)
		if !ok || in.Built != built {
			continue
		}
		in.log(logf)
		if strength < plan.Construction && len(servers) > 0 {
			continue
		}
		s := plan.Server{Framework: server.framework, Evidence: server.Place, Built: built, Strength: strength}
		if server.inMain {
			s.Strength = plan.MainConstruction
		}
		listens := p.address(in, server)
		if s.Port = listens.Local(); s.Port != 0 {
			s.PortEvidence = listens.Place
		}
		s.Health, s.HealthEvidence = p.health(in, server)
		servers = append(servers, s)
	}
	return servers
}

// strength returns the strongest evidence of servers that the sources, or the built programs, have.
func (p serving) strength(built bool) plan.Strength {
	for _, strength := range []plan.Strength{plan.Construction, plan.Registration} {
		has := func(in *Package) bool { _, ok := in.server(strength); return ok && in.Built == built }
		if slices.ContainsFunc(p.packages, has) {
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

// server returns the first finding of the package that proves a server by evidence of a strength. A construction in
// main goes before others.
func (in *Package) server(strength plan.Strength) (proof, bool) {
	var first proof
	for _, f := range in.Findings {
		p, of := proofOf(f)
		if of != strength || p.Site == nil {
			continue
		}
		if p.inMain || strength < plan.Construction {
			return p, true
		}
		if first.Site == nil {
			first = p
		}
	}
	return first, first.Site != nil
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

// health looks for a registration in the server's own package, then in the packages of its project that make no server:
// a registration beside another server belongs to that one.
func (p serving) health(in *Package, server proof) (plan.Health, plan.Place) {
	if f, ok := finding.First[finding.Health](in.Findings); ok {
		return plan.HealthRegistered, f.Place
	}
	disabled := finding.Has[finding.HealthDisabled](in.Findings)
	for shared := range p.shared.of(server.Path) {
		if shared.health != nil {
			return plan.HealthRegistered, shared.health.Place
		}
		disabled = disabled || shared.healthDisabled
	}
	if server.automaticHealth && !disabled {
		return plan.HealthAutomatic, server.Place
	}
	return plan.HealthMissing, plan.Place{}
}

// address returns the one address that the package names. If it names none, that is the address that packages without a
// server name which belong to this server alone, such as settings files. It is not known if several are named, or one
// that is not known.
func (p serving) address(in *Package, server proof) address.Address {
	if finding.Has[finding.Listener](in.Findings) {
		return p.only(finding.All[finding.Listener](in.Findings))
	}
	var shared []finding.Listener
	for s := range p.shared.of(server.Path) {
		shared = append(shared, s.listeners...)
	}
	return p.only(slices.Values(shared))
}

// only returns the one address that listeners have, as it is written first.
func (p serving) only(listeners iter.Seq[finding.Listener]) address.Address {
	var only address.Address
	for l := range listeners {
		a := p.graph.Resolve(p.project, l.Path, l.Address)
		switch {
		case a.Local() == 0 || only.Local() != 0 && only.Local() != a.Local():
			return address.Address{}
		case only.Local() == 0:
			only = a
		}
	}
	return only
}
