package cpp

import (
	"maps"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// postAnalyze returns a server for each file that makes a server. If no file makes a server, implemented or registered
// services stand for servers.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	projects := analyzer.Projects(files, analyzer.FileIsPackage)
	constructed := func(p *analyzer.Project[extra]) bool { return analyzer.ProjectHas[finding.Server](p) }
	if !slices.ContainsFunc(projects, constructed) {
		for _, p := range projects {
			p.Decide(decideImplied)
		}
	}
	shareProgramHealth(projects)
	analyzer.DropBuilt(projects)
	servers := analyzer.Servers(projects, logf)
	linksArchive, programs := map[string]bool{}, map[string]string{}
	for _, f := range files {
		linksArchive[f.Path] = f.Extra.linksArchive
		maps.Copy(programs, f.Extra.programs)
	}
	for i, s := range servers {
		if program := programs[s.Evidence.Path]; program != "" {
			servers[i].Programs = []string{program}
		}
		if linksArchive[s.Evidence.Path] {
			servers[i].Health = "" // unknown
		}
		// A server of grpc++ has no default credentials: the call that adds the port passes credentials.
		if s.Framework == grpcPlusPlus && s.Security.Place == (plan.Place{}) {
			servers[i].Security = plan.Security{}
		}
	}
	return servers
}

// decideImplied replaces an implied service by a registration.
func decideImplied(_ *analyzer.Package, f finding.Finding) []finding.Finding {
	if f, ok := f.(serviceImplied); ok {
		return []finding.Finding{finding.Registration{Site: f.Site, Framework: grpcPlusPlus}}
	}
	return []finding.Finding{f}
}

// shareProgramHealth gives the servers of libraries the health service of a program without a server. The program
// turns the service on for all servers of the process, and so for the servers of libraries.
func shareProgramHealth(projects []*analyzer.Project[extra]) {
	var health []finding.Finding
	for _, p := range projects {
		if analyzer.ProjectHas[finding.Server](p) {
			continue
		}
		for _, in := range p.Packages {
			if f, ok := finding.First[finding.Health](in.Findings); ok {
				health = append(health, finding.Health{Site: f.Quiet()})
			}
		}
	}
	for _, p := range projects {
		if len(health) > 0 && isServerLibrary(p) {
			p.Packages = append(p.Packages, &analyzer.Package{Path: "programs", Findings: health[:1]})
		}
	}
}

// isServerLibrary reports whether a project constructs servers, none in a built program or in a file with main.
func isServerLibrary(p *analyzer.Project[extra]) bool {
	for _, in := range p.Packages {
		for s := range finding.All[finding.Server](in.Findings) {
			if in.Built || s.InMain {
				return false
			}
		}
	}
	return analyzer.ProjectHas[finding.Server](p)
}
