package analyzer

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Servers returns a server for each package that constructs a server. In a project where no package does, the
// registrations imply one server, which a helper outside of the project constructs; without registrations, the
// implementations imply one whose framework constructs a server for them. logf gets a line for each piece of evidence.
func Servers[T any](all []*Project[T], logf tree.Logf) []plan.Server {
	var servers []plan.Server
	for _, p := range all {
		in := serving{p.Packages, shareFindings(p.Packages)}
		servers = append(servers, in.servers(false, logf)...)
		servers = append(servers, in.servers(true, logf)...)
	}
	return servers
}

// ServersInFiles is the PostAnalyze of languages whose findings need nothing from outside of their files.
func ServersInFiles(files []File[struct{}], logf tree.Logf) []plan.Server {
	return Servers(Projects(files, FileIsPackage), logf)
}

// serving is the packages of a project, and what they share.
type serving struct {
	packages []*Package
	shared   sharedFindings
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
		s := plan.Server{Framework: server.Framework, Evidence: server.Place, Built: built, Strength: strength}
		if server.InMain {
			s.Strength = plan.MainConstruction
		}
		s.Port, s.PortEvidence = p.port(in, server)
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

// server returns the first finding of the package that proves a server by evidence of a strength. A construction in
// main goes before others.
func (in *Package) server(strength plan.Strength) (Finding, bool) {
	switch strength {
	case plan.Registration:
		return in.First(ServiceRegistered)
	case plan.Implementation:
		return in.find(func(f Finding) bool { return f.Kind == ServiceImplemented && f.FrameworkServes })
	}
	if f, ok := in.find(func(f Finding) bool { return f.Kind == ServerConstructed && f.InMain }); ok {
		return f, true
	}
	return in.First(ServerConstructed)
}

// log prints the evidence that a package holds.
func (in *Package) log(logf tree.Logf) {
	for _, f := range in.Findings {
		if f.Excerpt != "" {
			logf("evidence: %s: %s", f.Place, plan.Printable(f.Excerpt))
		}
	}
}

// health looks for a registration in the server's own package, then in the packages of its project that make no server:
// a registration beside another server belongs to that one.
func (p serving) health(in *Package, server Finding) (plan.Health, plan.Place) {
	if f, ok := in.First(HealthRegistered); ok {
		return plan.HealthRegistered, f.Place
	}
	disabled := in.Has(HealthDisabled)
	for shared := range p.shared.of(server.Path) {
		if shared.health != nil {
			return plan.HealthRegistered, shared.health.Place
		}
		disabled = disabled || shared.healthDisabled
	}
	if server.AutomaticHealth && !disabled {
		return plan.HealthAutomatic, server.Place
	}
	return plan.HealthMissing, plan.Place{}
}

// port returns the one port that the package names. Where it names none, that is the port that packages without a
// server name which belong to this server alone, such as settings files. It is 0 where none or several are named, or
// one that is not known.
func (p serving) port(in *Package, server Finding) (int, plan.Place) {
	if in.Has(Listener) {
		return onlyPort(in.Findings)
	}
	var shared []Finding
	for s := range p.shared.of(server.Path) {
		shared = append(shared, s.listeners...)
	}
	return onlyPort(shared)
}

// onlyPort returns the one port that listeners have, and where it is written first.
func onlyPort(findings []Finding) (port int, place plan.Place) {
	for _, f := range findings {
		switch {
		case f.Kind != Listener || port == f.Port:
		case f.Port == source.UnknownPort || port != 0:
			return 0, plan.Place{}
		default:
			port, place = f.Port, f.Place
		}
	}
	return port, place
}
