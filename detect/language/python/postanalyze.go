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

// postAnalyze makes a server of each source that constructs a server.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	files = analyzer.DropUnread(files, func(f analyzer.File[extra]) bool { return f.Extra.LoadsEnvironment })
	analyzer.ReplaceEnvironment(files, func(f analyzer.File[extra]) bool { return f.Extra.ReplacesEnvironment })
	all := analyzer.Projects(files, analyzer.FileIsPackage)
	find, makers := moduleFinder(files), analyzer.MakersOf(all)
	makersFor := func(p *analyzer.Project[extra]) []*analyzer.Project[extra] { return makersFor(p, makers, find) }
	all = analyzer.Join(all, isPlain, makersFor)
	custom := customHealthModules(files)
	for _, p := range all {
		resolve(p, custom)
		analyzer.AddDefaultListeners(frameworks, p)
	}
	graph := analyzer.Graph(all)
	graph.Module = find
	for _, p := range all {
		p.Decide(func(in *analyzer.Package, f finding.Finding) []finding.Finding {
			if h, ok := f.(analyzer.HealthHelper); ok {
				if isOwnModule(p, h.Module) {
					return analyzer.DecideOwnHelper(h)
				}
				return analyzer.DecideHelper(all, p, h, helperFile(files, find, in.Path, h.Module))
			}
			return []finding.Finding{f}
		})
	}
	analyzer.GiveHealth(all, makersFor)
	return analyzer.ServersIn(graph, all, logf)
}

// isPlain reports whether a project has services that are for servers of grpcio itself, and no other server.
func isPlain(p *analyzer.Project[extra]) bool {
	for f := range p.All() {
		switch of := f.(type) {
		case webServer:
			return false
		case finding.Implementation:
			if of.Served {
				return false
			}
		case finding.Registration:
			if of.Framework != grpcio {
				return false
			}
		}
	}
	return analyzer.ProjectHas[finding.Registration](p)
}

// customHealthModules returns the names of the modules that have a service Health which is not grpc.health.v1's.
func customHealthModules(files []analyzer.File[extra]) map[string]bool {
	modules := map[string]bool{}
	for _, f := range files {
		if f.Extra.CustomHealth {
			modules[strings.TrimSuffix(path.Base(f.Path), ".py")] = true
		}
	}
	return modules
}

// resolve leaves out health services of the app's own making, and registrations that only a gRPC-Web server serves.
// Other registrations get the framework that serves them.
func resolve(p *analyzer.Project[extra], customHealth map[string]bool) {
	constructs := analyzer.ProjectHas[finding.Server](p)
	webOnly := analyzer.ProjectHas[webServer](p) && !constructs
	framework := ""
	if !constructs {
		framework = servingFramework(p)
	}
	p.Decide(func(_ *analyzer.Package, f finding.Finding) []finding.Finding {
		switch f := f.(type) {
		case healthByModule:
			if customHealth[f.module] {
				return nil
			}
			return []finding.Finding{finding.Health{Site: f.Site, Of: f.of}}
		case modelListener:
			if framework != mlserver {
				return nil
			}
			return []finding.Finding{f.Listener}
		case finding.Registration:
			if webOnly {
				return nil
			}
			f.Framework = cmp.Or(framework, f.Framework)
			if slices.Contains(servePlaintext, f.Framework) {
				says := plan.Security{Transport: plan.Plaintext}
				return []finding.Finding{f, finding.Security{Site: f.Site, Says: says}}
			}
			return []finding.Finding{f}
		}
		return []finding.Finding{f}
	})
}

// servePlaintext are the frameworks that serve registrations, and that have no TLS.
var servePlaintext = []string{djangoGRPCFramework}

// servingFramework returns the framework that constructs the server of a project whose sources construct none: one
// whose services are among the registrations. It is "" if all registrations are plain grpcio.
func servingFramework(p *analyzer.Project[extra]) string {
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
