package python

import (
	"cmp"
	"path"
	"slices"
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
	folders := analyzer.HealthFolders{}
	for _, f := range files {
		folders.Add(f.Path, f.Extra.Health)
	}
	all := analyzer.Projects(files, analyzer.FileIsPackage)
	makers := analyzer.MakersOf(all)
	makersFor := func(p *project) []*project { return makersFor(p, makers) }
	all = analyzer.Join(all, isPlain, makersFor)
	for _, p := range all {
		resolve(p, folders)
		analyzer.AddDefaultListeners(frameworks, p)
	}
	analyzer.GiveHealth(all, makersFor)
	return analyzer.Servers(all, logf)
}

// isPlain reports whether a project has services that are for servers of grpcio itself, and no other server.
func isPlain(p *project) bool {
	return analyzer.ProjectHas[finding.Registration](p) && !analyzer.ProjectHas[webServer](p) &&
		servingFramework(p) == ""
}

// resolve leaves out health services of the app's own making, and registrations that only a gRPC-Web server serves.
// Other registrations get the framework that serves them.
func resolve(p *project, folders analyzer.HealthFolders) {
	framework, webOnly := "", false
	if !analyzer.ProjectHas[finding.Server](p) {
		framework, webOnly = servingFramework(p), analyzer.ProjectHas[webServer](p)
	}
	has := packagesOf(p)
	p.Decide(func(in *analyzer.Package, f finding.Finding) []finding.Finding {
		drops := false
		switch of := f.(type) {
		case finding.HealthMade:
			drops = folders.IsOwn(in.Path)
			f = finding.Health{Site: of.Site, Of: of.Of}
		case healthHelper:
			// The server's own project shares what its files register.
			isOwn := has(of.module)
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

// packagesOf returns what reports whether a project has the package that a module is in, by the module's path. It has
// those of relative paths.
func packagesOf(p *project) (has func(module string) bool) {
	all := map[string]bool{"": true}
	for _, f := range p.Files {
		for name := range strings.SplitSeq(strings.TrimSuffix(f.Path, ".py"), "/") {
			all[name] = true
		}
	}
	return func(module string) bool {
		first, _, _ := strings.Cut(module, "/")
		return all[first]
	}
}

// makersFor returns those of the makers that are modules of other projects which a project imports where it has
// services, or in such packages.
func makersFor(p *project, makers analyzer.Makers[extra]) []*project {
	var imported []string
	has := packagesOf(p)
	for _, f := range p.Files {
		for _, module := range f.Extra.Imports {
			if !has(module) && module != "grpc" {
				imported = append(imported, "/"+module)
			}
		}
	}
	return makers.In(func(file string) bool {
		module := "/" + strings.TrimSuffix(file, ".py")
		return slices.ContainsFunc(imported, func(name string) bool {
			return strings.HasSuffix(module, name) || strings.HasSuffix(path.Dir(module), name)
		})
	})
}
