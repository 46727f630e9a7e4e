package cpp

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// postAnalyze returns a server for each file that makes a server. Where no file of the app does, the services that it
// implements or registers stand for servers.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	files = analyzer.DropBazelTests(files, func(f analyzer.File[extra]) []string { return f.Extra.testFiles })
	projects := analyzer.Projects(files, analyzer.FileIsPackage)
	constructed := func(p *analyzer.Project[extra]) bool { return p.Has(analyzer.ServerConstructed) }
	if !slices.ContainsFunc(projects, constructed) {
		for _, p := range projects {
			p.Resolve(resolveImplied)
		}
	}
	analyzer.ResolveListeners(projects, func(f analyzer.File[extra]) []analyzer.Constant { return f.Extra.constants })
	shareProgramHealth(projects)
	analyzer.DropBuilt(projects)
	servers := analyzer.Servers(projects, logf)
	linksArchive := map[string]bool{}
	for _, f := range files {
		linksArchive[f.Path] = f.Extra.linksArchive
	}
	for i, s := range servers {
		if linksArchive[s.Evidence.Path] {
			servers[i].Health = "" // not known
		}
	}
	return servers
}

// resolveImplied makes a registered service of one that is implied.
func resolveImplied(_ *analyzer.Package, f analyzer.Finding) (analyzer.Finding, bool) {
	if f.Kind == serviceImplied {
		f.Kind = analyzer.ServiceRegistered
	}
	return f, true
}

// shareProgramHealth gives the servers of libraries the health service that a program of the app registers: it turns
// the service on for all servers of its process, and has none of its own, so that it uses one of a library.
func shareProgramHealth(projects []*analyzer.Project[extra]) {
	var health []analyzer.Finding
	for _, p := range projects {
		for _, in := range p.Packages {
			if f, ok := in.First(analyzer.HealthRegistered); ok && !p.Has(analyzer.ServerConstructed) {
				health = append(health, f.At(f.Line, ""))
			}
		}
	}
	for _, p := range projects {
		if len(health) > 0 && isServerLibrary(p) {
			p.Packages = append(p.Packages, &analyzer.Package{Path: "programs", Findings: health[:1]})
		}
	}
}

// isServerLibrary reports whether a project constructs servers, and none of them in main.
func isServerLibrary(p *analyzer.Project[extra]) bool {
	inMain := func(f analyzer.Finding) bool { return f.InMain }
	return p.Has(analyzer.ServerConstructed) && !slices.ContainsFunc(p.Packages, func(in *analyzer.Package) bool {
		return in.Built || slices.ContainsFunc(in.Findings, inMain)
	})
}
