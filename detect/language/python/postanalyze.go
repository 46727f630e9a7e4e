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
	all := analyzer.Projects(files, analyzer.FileIsPackage)
	makers := analyzer.MakersOf(all)
	makersFor := func(p *project) []*project { return makersFor(p, makers) }
	all = analyzer.Join(all, isPlain, makersFor)
	dropOwnHealth(all)
	for _, p := range all {
		resolve(p)
		analyzer.AddDefaultListeners(frameworks, p)
	}
	for _, p := range all {
		p.Decide(func(_ *analyzer.Package, f finding.Finding) []finding.Finding {
			if h, ok := f.(healthHelper); ok {
				return decideHelper(all, p, h)
			}
			return []finding.Finding{f}
		})
	}
	analyzer.GiveHealth(all, makersFor)
	return analyzer.Servers(all, logf)
}

// isPlain reports whether a project has services that are for servers of grpcio itself, and no other server.
func isPlain(p *project) bool {
	return analyzer.ProjectHas[finding.Registration](p) && !analyzer.ProjectHas[webServer](p) &&
		servingFramework(p) == ""
}

// dropOwnHealth leaves out health services of the app's own making, which the generated code of a file registers.
func dropOwnHealth(all []*project) {
	folders := analyzer.HealthFolders{}
	for _, p := range all {
		for _, f := range p.Files {
			folders.Add(f.Path, f.Extra.Health)
		}
	}
	for _, p := range all {
		for _, f := range p.Files {
			if in := p.Package(f.Path); f.Extra.UsesHealthStub && folders.IsOwn(f.Path) {
				in.Findings = slices.DeleteFunc(in.Findings, finding.Is[finding.Health])
			}
		}
	}
}

// resolve leaves out registrations that only a gRPC-Web server serves. Other registrations get the framework that
// serves them.
func resolve(p *project) {
	constructs := analyzer.ProjectHas[finding.Server](p)
	webOnly := analyzer.ProjectHas[webServer](p) && !constructs
	framework := ""
	if !constructs {
		framework = servingFramework(p)
	}
	p.Decide(func(_ *analyzer.Package, f finding.Finding) []finding.Finding {
		switch of := f.(type) {
		case modelListener:
			if framework != mlserver {
				return nil
			}
			f = of.Listener
		case finding.Registration:
			if webOnly {
				return nil
			}
			of.Framework = cmp.Or(framework, of.Framework)
			f = of
		}
		return []finding.Finding{f}
	})
}

// servingFramework returns the framework that constructs the server of a project whose sources construct none: one
// whose services are among the registrations. It is "" if all registrations are plain grpcio.
func servingFramework(p *project) string {
	framework := ""
	for f := range p.All() {
		i, isImplementation := f.(finding.Implementation)
		_, isRegistration := f.(finding.Registration)
		if of := finding.FrameworkOf(f); (isRegistration || isImplementation && i.Served) && of != grpcio {
			framework = of
		}
	}
	return framework
}

// healthHelper is a call that gives a server to a function of another module which is named for health.
type healthHelper struct {
	*finding.Site
	module string // the path of the function
}

// decideHelper returns what a helper registers: the health service that its project has, if that is another one than
// the server's, which shares its own anyway. It is not known of one that is not in the app, or that is called on a
// condition.
func decideHelper(all []*project, of *project, h healthHelper) []finding.Finding {
	first, _, _ := strings.Cut(h.module, "/")
	for _, p := range slices.Concat([]*project{of}, all) {
		isOwn := p == of && (first == "" || has(p, first))
		if !isOwn && !has(p, path.Dir(h.module)) {
			continue
		}
		health, ok := finding.First[finding.Health](slices.Collect(p.All()))
		switch {
		case ok && h.IsUnsure():
			return []finding.Finding{finding.Health{Site: h.Site}}
		case isOwn:
			return nil
		case ok:
			return []finding.Finding{health}
		}
	}
	return []finding.Finding{finding.HealthElsewhere{Site: h.Site}}
}

// has reports whether a project has a module, or a package, by its path.
func has(p *project, module string) bool {
	return slices.ContainsFunc(p.Files, func(f analyzer.File[extra]) bool {
		return strings.Contains("/"+strings.TrimSuffix(f.Path, ".py")+"/", "/"+module+"/")
	})
}

// maxImports is how many names that a source imports are compared with the servers of other projects.
const maxImports = 64

// makersFor returns those of the makers that are modules which a project imports where it has services, or in packages
// from which it imports there.
func makersFor(p *project, makers analyzer.Makers[extra]) []*project {
	var imported []string
	for _, f := range p.Files {
		for _, name := range f.Extra.Imports {
			if first, _, _ := strings.Cut(name, "."); first != "grpc" && first != "" && !has(p, first) {
				imported = append(imported, "/"+strings.ReplaceAll(name, ".", "/"))
			}
		}
	}
	return makers.In(func(file string) bool {
		module := "/" + strings.TrimSuffix(file, ".py")
		return slices.ContainsFunc(imported, func(name string) bool {
			of := path.Dir(name)
			return strings.HasSuffix(module, name) || of != "/" &&
				(strings.HasSuffix(module, of) || strings.HasSuffix(path.Dir(module), of))
		})
	})
}
