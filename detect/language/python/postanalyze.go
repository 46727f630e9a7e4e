package python

import (
	"cmp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

type project = analyzer.Project[extra]

// postAnalyze makes a server of each source that constructs a server.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	files = analyzer.DropUnread(files, func(f analyzer.File[extra]) bool { return f.Extra.LoadsEnvironment })
	analyzer.ReplaceEnvironment(files, func(f analyzer.File[extra]) bool { return f.Extra.ReplacesEnvironment })
	folders := analyzer.HealthFoldersOf(files)
	all := analyzer.Projects(files, analyzer.FileIsPackage)
	for _, p := range all {
		resolve(p, folders)
		analyzer.AddDefaultListeners(frameworks, p)
	}
	analyzer.DoubtHealth(all)
	return analyzer.Servers(all, logf)
}

// resolve leaves out the app's own health services, and registrations that only a gRPC-Web server serves. Other
// registrations get the framework that serves them.
func resolve(p *project, folders analyzer.HealthFolders) {
	framework, webOnly := "", false
	if !analyzer.ProjectHas[finding.Server](p) {
		framework, webOnly = servingFramework(p), analyzer.ProjectHas[webServer](p)
	}
	own := modulesOf(p)
	p.Decide(func(in *analyzer.Package, f finding.Finding) []finding.Finding {
		drops := false
		switch of := f.(type) {
		case finding.HealthMade:
			drops = folders.IsOwn(in.Path)
			f = finding.Health{Site: of.Site, Of: of.Of}
		case healthHelper:
			// The server's own project shares the registrations of its files.
			isOwn := own[of.module]
			drops = isOwn && !(of.IsUnsure() && analyzer.ProjectHas[finding.Health](p))
			if f = (finding.HealthElsewhere{Site: of.Site}); isOwn {
				f = finding.Health{Site: of.Site}
			}
		case modelListener:
			drops = framework != mlserver
			f = of.Listener
		case finding.Registration:
			drops = webOnly
			of.Framework = cmp.Or(framework, of.Framework)
			f = of
		}
		if drops {
			return nil
		}
		return []finding.Finding{f}
	})
}

// servingFramework returns the framework that makes the server for the implementations of a project, "" for none.
func servingFramework(p *project) string {
	framework := ""
	for f := range p.All() {
		if i, ok := f.(finding.Implementation); ok && i.Served {
			framework = i.Framework
		}
	}
	return framework
}

// modulesOf returns the names of the modules and packages of a project, and "" for relative imports.
func modulesOf(p *project) map[string]bool {
	all := map[string]bool{"": true}
	for _, f := range p.Files {
		for name := range strings.SplitSeq(strings.TrimSuffix(f.Path, ".py"), "/") {
			all[name] = true
		}
	}
	return all
}
