package jvm

import (
	"path"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// postAnalyze returns a server for each server that is made, and for each project whose framework makes one.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	projects := analyzer.Projects(files, analyzer.FileIsPackage)
	m := newModules(files, projects)
	for _, p := range projects {
		b := m.builds[p]
		b.decide(p)
		if found := b.frameworkSettings(p); found != nil {
			p.Packages = append(p.Packages, &analyzer.Package{Path: "settings of " + p.Dir, Findings: found})
		}
	}
	m.merge()
	m.declareForProjects()
	analyzer.DropBuilt(projects)
	servers := analyzer.Servers(projects, logf)

	builtFrom := map[string]string{}
	for _, f := range files {
		builtFrom[f.Path] = f.Extra.language
	}
	for i := range servers {
		s := &servers[i]
		if s.Language = languageOf[path.Ext(s.Evidence.Path)]; s.Built {
			s.Language = builtFrom[s.Evidence.Path]
		}
		s.Framework = inLanguage(s.Framework, s.Language)
	}
	return servers
}

// decide replaces the findings that depend on the build. It leaves out those that prove nothing in this one.
func (b *build) decide(p *project) {
	starter, hasHandlers, servesTriple := starterOf(b.artifacts), b.has(handlerGenerator), b.settings.servesTriple()
	p.Decide(func(_ *analyzer.Package, f finding.Finding) []finding.Finding {
		switch of := f.(type) {
		case finding.Server:
			of.AutomaticHealth = b.registersHealth(of.Framework, of.AutomaticHealth)
			f = of
		case finding.Registration:
			if starter != "" && of.Framework == grpcJava {
				of.Framework = starter
			}
			of.AutomaticHealth = b.registersHealth(of.Framework, of.AutomaticHealth)
			f = of
		case finding.Implementation:
			if starter != "" && of.Framework == grpcJava {
				of.Framework, of.Served = starter, true
			}
			of.AutomaticHealth = b.registersHealth(of.Framework, of.AutomaticHealth)
			f = of
		case handlerCalled:
			if !hasHandlers {
				return nil
			}
			if f = finding.Constructs(of.framework)(of.Site, ""); of.framework == playGRPC {
				f = finding.Serves(playGRPC)(of.Site, "")
			}
		case healthHandlerCalled:
			if !hasHandlers {
				return nil
			}
			f = finding.Health{Site: of.Site}
		case dubboService:
			if !servesTriple {
				return nil
			}
			f = finding.Implementation{
				Site: of.Site, Framework: dubbo, Served: true, AutomaticHealth: b.registersHealth(dubbo, false),
			}
		}
		return []finding.Finding{f}
	})
}

// inLanguage returns the name of a framework in a language: grpc-java has others in Kotlin and Scala.
func inLanguage(framework, language string) string {
	if framework == grpcJava {
		return plainFramework[language]
	}
	return framework
}
