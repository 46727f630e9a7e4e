package golang

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
)

// maxSharing is how many packages are looked at that make no server and say something of one: the imports of each are
// followed.
const maxSharing = 128

// share gives what packages say that make no server to those that make the servers it is for, as imports tell:
// listeners to the one server package that is imported; a health service to the servers that import its registration or
// that it imports, or else to those of the programs that it is in; to registrations of services what another module of
// the app says of the server that their programs have.
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

// serverPackages returns the packages of the sources that make servers, by their directories.
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

// among returns the packages that are in directories.
func among(packages map[string]*analyzer.Package, dirs map[string]bool) []*analyzer.Package {
	var found []*analyzer.Package
	for dir, in := range packages {
		if dirs[dir] {
			found = append(found, in)
		}
	}
	return found
}

// inPrograms returns those packages with servers that are in a program which imports a package, and whether there is
// such a program.
func (w workspace) inPrograms(
	in *analyzer.Package, servers map[string]*analyzer.Package,
) (found []*analyzer.Package, isProgram bool) {
	mains := w.mainsAmong(w.importing(in.Path))
	return among(servers, w.reach(mains)), len(mains) > 0
}

// giveListeners gives the one package with a server that a package imports the listeners of this one, if it has none.
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

// giveHealth moves the first health registration of a package to the packages with the servers that it is for. It is
// left out if it is for a server that is made outside of the app. Where imports do not tell, the directories do: see
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

// borrowServer gives a package that registers services what is found of the one server of its programs: the modules of
// a monorepo may share one that makes their server.
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
