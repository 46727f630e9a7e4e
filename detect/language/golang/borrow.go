package golang

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
)

// maxBorrowing is how many packages are looked at that register services with a server of another module: the imports
// of each are followed.
const maxBorrowing = 64

// borrowServers gives packages that only register services, in modules that construct no server, what another module of
// the app says of the server that it constructs for their programs: the modules of a monorepo may share one that does.
func (w workspace) borrowServers(all []*project) {
	var borrowing []*analyzer.Package
	for _, p := range all {
		for _, in := range p.Packages {
			if !in.Built && finding.Has[finding.Registration](in.Findings) && !analyzer.ProjectHas[finding.Server](p) {
				borrowing = append(borrowing, in)
			}
		}
	}
	if len(borrowing) == 0 {
		return
	}
	importers, servers := w.importers(), serverPackages(all)
	for _, in := range borrowing[:min(len(borrowing), maxBorrowing)] {
		importing := closure([]string{in.Path}, func(dir string) []string { return importers[dir] })
		makers := serversAmong(servers, w.reach(w.mainsAmong(importing)), nil)
		if len(makers) != 1 {
			continue
		}
		made := slices.Collect(finding.All[finding.Server](makers[0].Findings))
		if len(made) == 1 {
			borrowServer(in, made[0], makers[0].Findings)
		}
	}
}

// borrowServer gives a package that registers services what is found of a server.
func borrowServer(in *analyzer.Package, server finding.Server, found []finding.Finding) {
	for i, f := range in.Findings {
		if r, ok := f.(finding.Registration); ok {
			r.Framework, r.AutomaticHealth = server.Framework, server.AutomaticHealth
			in.Findings[i] = r
		}
	}
	for _, f := range found {
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
