package jvm

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// postAnalyze returns a server for each server that is made, and for each project whose framework makes one.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	projects := analyzer.Projects(files, analyzer.FileIsPackage)
	serves := slices.ContainsFunc(projects, providesService)
	health := classesOf(projects, func(f finding.HealthClass) string { return f.Class })
	exempt := classesOf(projects, func(f exemption) string { return f.class })
	declared := classesOf(projects, func(f healthDeclared) string { return f.name })
	folders := analyzer.HealthFolders{}
	mentioned := map[string]bool{}
	secured := slices.ContainsFunc(projects, analyzer.ProjectHas[finding.Security])
	var processes procfile.Processes
	for _, f := range files {
		folders.Add(f.Path, f.Extra.health)
		for _, class := range f.Extra.mentions {
			mentioned[class] = true
		}
		if f.Processes != nil {
			processes = f.Processes
		}
	}
	m := newModules(files, projects, processes)
	m.decideGiving()
	for _, p := range projects {
		b := m.builds[p]
		b.healthClasses, b.exempt, b.secured = health, exempt, secured
		b.healthDeclared, b.healthFolders, b.hasHealth = declared, folders, m.hasHealth(p, health)
		b.healthMentioned = mentioned
		b.decide(p, serves, logf)
		if found := b.frameworkSettings(p); found != nil {
			p.Packages = append(p.Packages, &analyzer.Package{Path: "settings of " + p.Dir, Findings: found})
		}
	}
	analyzer.GiveHealth(projects, m.needed)
	m.merge()
	m.declareForProjects()
	analyzer.DropBuilt(projects)
	servers := analyzer.Servers(projects, logf)
	analyzer.SetLanguages(servers, files, languageOf)
	for i, s := range servers {
		servers[i].Framework = inLanguage(s.Framework, s.Language)
	}
	return servers
}

// providesService reports whether sources of a project make a server, or implement a service.
func providesService(p *project) bool {
	for f := range p.All() {
		switch f.(type) {
		case finding.Server, finding.Registration, finding.Implementation, handlerCalled, dubboService:
			return true
		}
	}
	return false
}

// netDevhServer is net.devh's starter that makes a server in any case (GrpcServerLifecycle.java): that for servers and
// clients is as often there for clients.
var netDevhServer = lazyregexp.New(`^net\.devh:grpc-server-spring-boot-starter\b`)

// finding returns what the call of a generated handler is: it constructs a server, or serves where Play does.
func (h handlerCalled) finding() finding.Finding {
	if h.framework == playGRPC {
		return finding.Serves(playGRPC)(h.Site, "")
	}
	return finding.Constructs(h.framework)(h.Site, "")
}

// decide replaces the findings that depend on the build. It leaves out those that prove nothing in this one. The app
// provides a service of its own or does not.
func (b *build) decide(p *project, providesService bool, logf tree.Logf) {
	starter := starterOf(b.artifacts)
	isServedByStarter := starter != "" && !(needsAnnotation(starter) && constructsServer(p))
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
			if isServedByStarter && of.Framework == grpcJava {
				of.Framework, of.Served = starter, true
			}
			of.AutomaticHealth = b.registersHealth(of.Framework, of.AutomaticHealth)
			f = of
		case springApplication:
			if providesService || !b.has(netDevhServer) {
				return nil
			}
			f = finding.Implementation{
				Site: of.Site, Framework: netDevh, Served: true, AutomaticHealth: b.registersHealth(netDevh, true),
			}
		default:
			f = b.meaning(f)
		}
		if f == nil {
			return nil
		}
		if framework, at := servedBy(f); b.isOff(framework) {
			logf("%s: leaving out the server: %s is not to make one", at, framework)
			return nil
		}
		return []finding.Finding{f}
	})
}

// meaning returns what a finding of a type of the JVM's own proves in this build, nil for nothing. Other findings prove
// what they are.
func (b *build) meaning(f finding.Finding) finding.Finding {
	switch of := f.(type) {
	case handlerCalled:
		if b.has(handlerGenerator) {
			return of.finding()
		}
	case builderHanded:
		if !b.secured {
			return finding.Security{Site: of.Site, Of: of.of}
		}
	case dubboService:
		if b.settings.servesTriple() {
			return finding.Implementation{
				Site: of.Site, Framework: dubbo, Served: true, AutomaticHealth: b.registersHealth(dubbo, false),
			}
		}
	case authentication:
		if !b.exempt[of.class] {
			return finding.Authentication{Site: of.Site, OfAll: true}
		}
	case exemption, anyServiceAdded:
	default:
		return b.healthMeaning(f)
	}
	return nil
}

// healthMeaning is [build.meaning] of what may be the health service.
func (b *build) healthMeaning(f finding.Finding) finding.Finding {
	switch of := f.(type) {
	case finding.HealthMade:
		if b.healthClasses[of.Class] {
			return finding.Health{Site: of.Site, Of: of.Of}
		}
		if !b.healthDeclared[of.Class] && !b.hasHealth {
			return finding.Health{Site: of.AsUnsure(), Of: of.Of}
		}
	case healthNamed:
		return b.namedHealth(of)
	case healthImplemented:
		if b.givesServices && healthClassName.MatchString(of.class) && !b.healthMentioned[of.class] {
			return finding.Health{Site: of.AsUnsure()}
		}
		return finding.Health{Site: of.Site}
	case healthHelper:
		if !b.healthDeclared[of.name] && !b.hasHealth {
			return finding.Health{Site: of.AsUnsure()}
		}
	case healthHandlerCalled:
		if b.has(handlerGenerator) && !(of.IsUnsure() && b.healthFolders.IsOwn(of.Path)) {
			return finding.Health{Site: of.Site}
		}
	case finding.HealthClass, healthDeclared:
	default:
		return f
	}
	return nil
}

// namedHealth returns what a service Health proves whose package ends like that of the standard one: its .proto says
// whether it is that, if the app has it.
func (b *build) namedHealth(of healthNamed) finding.Finding {
	switch defines, ok := b.healthFolders.Innermost(of.Path); {
	case !ok:
		return finding.Health{Site: of.AsUnsure()}
	case defines.Standard:
		return finding.Health{Site: of.Site}
	}
	return nil
}

// decideGiving says of the projects whose server is made by the app that it serves what it is given, each service by
// its name.
func (m *modules) decideGiving() {
	for _, p := range m.projects {
		isGiven := starterOf(m.builds[p].artifacts) == ""
		makes := false
		for _, of := range append(m.around(p), p) {
			makes = makes || analyzer.ProjectHas[finding.Server](of)
			isGiven = isGiven && !analyzer.ProjectHas[anyServiceAdded](of)
		}
		m.builds[p].givesServices = makes && isGiven
	}
}

// hasHealth reports whether a project, or one that it is built with, registers grpc.health.v1 for sure.
func (m *modules) hasHealth(p *project, classes map[string]bool) bool {
	return slices.ContainsFunc(append(m.needed(p), p), func(of *project) bool {
		for f := range of.All() {
			switch f := f.(type) {
			case finding.Health:
				if !f.IsUnsure() {
					return true
				}
			case healthImplemented:
				return true
			case finding.HealthMade:
				if classes[f.Class] {
					return true
				}
			}
		}
		return false
	})
}

// servedBy returns the framework that makes a server for what a finding proves, "" for none, and where that stands.
func servedBy(f finding.Finding) (framework string, at plan.Place) {
	switch of := f.(type) {
	case finding.Registration:
		return of.Framework, of.Place
	case finding.Implementation:
		return of.Framework, of.Place
	}
	return "", plan.Place{}
}

// constructsServer reports whether a project makes a server with grpc-java itself.
func constructsServer(p *project) bool {
	for f := range p.All() {
		if s, ok := f.(finding.Server); ok && s.Framework == grpcJava {
			return true
		}
	}
	return false
}

// inLanguage returns the name of a framework in a language: grpc-java has others in Kotlin and Scala.
func inLanguage(framework, language string) string {
	if framework == grpcJava {
		return plainFramework[language]
	}
	return framework
}
