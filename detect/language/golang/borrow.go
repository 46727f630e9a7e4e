package golang

import (
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// borrowHealth gives packages that make a server the health registrations of the helper packages that they import from
// other modules of the app. Helpers of the same module need no such step.
func (w workspace) borrowHealth(p *project) {
	for _, in := range p.Packages {
		if !servesFromSource(in) {
			continue
		}
		for _, importPath := range w.imports[in.Path] {
			dir, ok := w.lookup(importPath)
			module := w.moduleOf(importPath)
			if !ok || module == p {
				continue
			}
			helper := module.Package(dir)
			if helper == nil || finding.Has[finding.Server](helper.Findings) {
				continue
			}
			if f, ok := finding.First[finding.Health](helper.Findings); ok {
				in.Findings = append(in.Findings, finding.Health{Site: f.Quiet()})
			}
		}
	}
}

// maxBorrowing is how many packages are looked at that register services with a server of another module: the imports
// of each are followed.
const maxBorrowing = 64

// borrowServers gives packages that only register services, in modules that construct no server, what another module of
// the app says of the server that it constructs for their programs: the modules of a monorepo may share one that does.
func (w workspace) borrowServers(all []*project) {
	var servers map[string]*analyzer.Package
	var importers map[string][]string
	left := maxBorrowing
	for _, p := range all {
		if analyzer.ProjectHas[finding.Server](p) {
			continue
		}
		for _, in := range p.Packages {
			if in.Built || !finding.Has[finding.Registration](in.Findings) || left == 0 {
				continue
			}
			if left--; importers == nil {
				importers, servers = w.importers(), serverPackages(all)
			}
			importing := closure([]string{in.Path}, func(dir string) []string { return importers[dir] })
			makers := serversAmong(servers, w.reach(w.mainsAmong(importing)), nil)
			if len(makers) == 1 {
				borrowServer(in, makers[0])
			}
		}
	}
}

// borrowServer gives a package that registers services what another one says of its server, if that has one.
func borrowServer(in, maker *analyzer.Package) {
	var server finding.Server
	count := 0
	for server = range finding.All[finding.Server](maker.Findings) {
		count++
	}
	if count != 1 {
		return
	}
	for i, f := range in.Findings {
		if r, ok := f.(finding.Registration); ok {
			r.Framework, r.AutomaticHealth = server.Framework, server.AutomaticHealth
			in.Findings[i] = r
		}
	}
	isSecured := finding.Has[finding.Security](maker.Findings)
	if !isSecured {
		plaintext := plan.Security{Transport: plan.Plaintext}
		in.Findings = append(in.Findings, finding.Security{Site: server.Quiet(), Says: plaintext})
	}
	for _, f := range maker.Findings {
		switch f := f.(type) {
		case finding.Health:
			in.Findings = append(in.Findings, finding.Health{Site: f.Quiet()})
		case finding.HealthDisabled:
			in.Findings = append(in.Findings, finding.HealthDisabled{Site: f.Quiet()})
		case finding.Security:
			in.Findings = append(in.Findings, finding.Security{Site: f.Quiet(), Says: f.Says})
		case finding.Listener:
			in.Findings = append(in.Findings, finding.Listener{Site: f.Quiet(), Address: f.Address})
		}
	}
}
