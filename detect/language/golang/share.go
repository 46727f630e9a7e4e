package golang

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
)

// maxSharing bounds the packages without a server but with findings about a server: the imports of each are followed.
const maxSharing = 128

// share moves findings from packages without a server to the packages with the server, by imports. Listeners go to the
// single imported package with a server. A health service goes to the servers that import the registration or are
// imported by the registration's package, or else to the servers of the same programs. Registrations of services get
// the findings about the server of the same programs from a different module of the app.
func (w workspace) share(all []*project) {
	servers, looked := serverPackages(all), 0
	for _, p := range all {
		for _, in := range p.Packages {
			isSource := w.sources[in.Path] && !in.Built && servers[in.Path] == nil
			if !isSource || !slices.ContainsFunc(in.Findings, isShared) {
				continue
			}
			if looked++; looked > maxSharing {
				in.Findings = slices.DeleteFunc(in.Findings, finding.Is[finding.Listener])
				continue
			}
			used := among(servers, w.reach([]string{in.Path}))
			giveListeners(in, used)
			w.giveHealth(in, used, servers)
		}
	}
	for _, p := range all {
		if analyzer.ProjectHas[finding.Server](p) {
			continue
		}
		for _, in := range p.Packages {
			if !in.Built && finding.Has[finding.Registration](in.Findings) && looked < 2*maxSharing {
				looked++
				w.borrowServer(in, servers)
			}
		}
	}
}

func isShared(f finding.Finding) bool {
	return finding.Is[finding.Listener](f) || finding.Is[finding.Health](f)
}

// serverPackages returns the packages of sources with servers, by directory.
func serverPackages(all []*project) map[string]*analyzer.Package {
	servers := map[string]*analyzer.Package{}
	for _, p := range all {
		for _, in := range p.Packages {
			if !in.Built && finding.Has[finding.Server](in.Findings) {
				servers[in.Path] = in
			}
		}
	}
	return servers
}

func among(packages map[string]*analyzer.Package, dirs map[string]bool) []*analyzer.Package {
	var found []*analyzer.Package
	for dir, in := range packages {
		if dirs[dir] {
			found = append(found, in)
		}
	}
	return found
}

// inPrograms returns the packages with servers in the programs that import a package, and whether any program does.
func (w workspace) inPrograms(
	in *analyzer.Package, servers map[string]*analyzer.Package,
) (found []*analyzer.Package, isProgram bool) {
	mains := w.mainsAmong(w.importing(in.Path))
	return among(servers, w.reach(mains)), len(mains) > 0
}

// giveListeners gives the listeners of a package to the only imported package with a server, if the server has none.
func giveListeners(from *analyzer.Package, used []*analyzer.Package) {
	if len(used) == 1 && !finding.Has[finding.Listener](used[0].Findings) {
		for l := range finding.All[finding.Listener](from.Findings) {
			used[0].Findings = append(used[0].Findings, l)
		}
	}
	if !from.Serves() {
		from.Findings = slices.DeleteFunc(from.Findings, finding.Is[finding.Listener])
	}
}

// giveHealth moves the first health registration of a package to the packages with the servers. A registration for a
// server made outside of the app is left out. Without evidence from imports, the directories decide: see
// analyzer.Servers.
func (w workspace) giveHealth(from *analyzer.Package, used []*analyzer.Package, servers map[string]*analyzer.Package) {
	health, ok := finding.First[finding.Health](from.Findings)
	if !ok {
		return
	}
	to, isProgram := slices.Concat(used, among(servers, w.importing(from.Path))), false
	if len(to) == 0 {
		to, isProgram = w.inPrograms(from, servers)
	}
	for _, in := range to {
		if !finding.Has[finding.Health](in.Findings) {
			in.Findings = append(in.Findings, finding.Health{Site: health.Quiet(), NeedsStatus: health.NeedsStatus})
		}
	}
	if len(servers) > 0 && (len(to) > 0 || isProgram) {
		from.Findings = slices.DeleteFunc(from.Findings, finding.Is[finding.Health])
	}
}

// borrowServer gives a package that registers services the findings of the only server of the programs: the modules of
// a monorepo may share a module that makes the server.
func (w workspace) borrowServer(in *analyzer.Package, servers map[string]*analyzer.Package) {
	makers, _ := w.inPrograms(in, servers)
	if len(makers) != 1 {
		return
	}
	made := slices.Collect(finding.All[finding.Server](makers[0].Findings))
	if len(made) != 1 {
		return
	}
	for i, f := range in.Findings {
		if r, ok := f.(finding.Registration); ok {
			r.Framework, r.AutomaticHealth = made[0].Framework, made[0].AutomaticHealth
			in.Findings[i] = r
		}
	}
	for _, f := range makers[0].Findings {
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
