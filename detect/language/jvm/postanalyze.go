package jvm

import (
	"path"
	"sync"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// postAnalyze returns a server for each server that is made, and for each project whose framework makes one.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	projects := analyzer.Projects(files, analyzer.FileIsPackage)
	m := newModules(files, projects)
	for _, p := range projects {
		b := m.builds[p]
		p.Resolve(b.resolver(sync.OnceValue(func() statedPorts { return m.stated(p) })))
		if in := b.frameworkSettings(p); in != nil {
			p.Packages = append(p.Packages, in)
		}
	}
	m.merge()
	analyzer.DropBuilt(projects)
	servers := analyzer.Servers(projects, logf)

	builtFrom := map[string]string{}
	for _, f := range files {
		builtFrom[f.Path] = f.Extra.language
	}
	for i, s := range servers {
		if servers[i].Language = languageOf[path.Ext(s.Evidence.Path)]; s.Built {
			servers[i].Language = builtFrom[s.Evidence.Path]
		}
	}
	return servers
}

// resolver returns the function that replaces the findings that depend on the build. It leaves out those that prove
// nothing in this one.
func (b *build) resolver(
	stated func() statedPorts,
) func(_ *analyzer.Package, f analyzer.Finding) (analyzer.Finding, bool) {
	starter, hasHandlers, servesTriple := starterOf(b.artifacts), b.has(handlerGenerator), b.settings.servesTriple()
	return func(_ *analyzer.Package, f analyzer.Finding) (analyzer.Finding, bool) {
		ok := true
		switch f.Kind {
		case analyzer.Listener:
			f = b.resolvePort(f, stated)
		case handlerCalled:
			f.Kind, ok = analyzer.ServerConstructed, hasHandlers
			if f.Framework == playGRPC {
				f.Kind, f.FrameworkServes = analyzer.ServiceImplemented, true
			}
		case healthHandlerCalled:
			f.Kind, ok = analyzer.HealthRegistered, hasHandlers
		case dubboService:
			f.Kind, f.FrameworkServes, ok = analyzer.ServiceImplemented, true, servesTriple
		case analyzer.ServiceRegistered, analyzer.ServiceImplemented:
			if starter != "" && isPlain(f.Framework) {
				f.Framework, f.FrameworkServes = starter, true
			}
		}
		f.AutomaticHealth = b.registersHealth(f)
		return f, ok
	}
}

// isPlain reports whether a framework is grpc-java by one of its names.
func isPlain(framework string) bool {
	return framework == grpcJava || framework == grpcKotlin || framework == scalaPB
}
