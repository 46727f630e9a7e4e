package jvm

import (
	"cmp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// postAnalyze returns a server for each server in the code, and for each project with a framework that makes a server.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	projects := analyzer.Projects(files, analyzer.FileIsPackage)
	app := newApp(files, projects)
	m := newModules(files, projects)
	for _, p := range projects {
		app.decide(p, m.builds[p], logf)
		if found := m.builds[p].frameworkSettings(p); found != nil {
			p.Packages = append(p.Packages, &analyzer.Package{Path: "settings of " + p.Dir, Findings: found})
		}
	}
	analyzer.GiveHealth(projects, m.needed)
	m.merge()
	analyzer.DropBuilt(projects)
	servers := analyzer.Servers(projects, logf)
	analyzer.SetLanguages(servers, files, languageOf)
	for i, s := range servers {
		servers[i].Framework = inLanguage(s.Framework, s.Language)
	}
	return servers
}

// inLanguage returns the name of a framework in a language: grpc-java has other names in Kotlin and Scala.
func inLanguage(framework, language string) string {
	if framework == grpcJava {
		return plainFramework[language]
	}
	return framework
}

// app combines the findings of all projects.
type app struct {
	serves  bool // with a server or an implementation of a service
	folders analyzer.HealthFolders
	// declared maps the classes and functions named for health, and the classes of handlers, in small letters, to
	// whether each is a class that implements grpc.health.v1.
	declared map[string]bool
}

func newApp(files []analyzer.File[extra], projects []*project) *app {
	a := &app{false, analyzer.HealthFoldersOf(files), map[string]bool{}}
	for _, p := range projects {
		for f := range p.All() {
			switch of := f.(type) {
			case finding.Server, finding.Registration, finding.Implementation:
				a.serves = true
			case conditional:
				a.serves = a.serves || of.needs != builtIn
			case finding.HealthClass:
				a.declared[strings.ToLower(of.Class)] = true
			case declared:
				if name := strings.ToLower(of.name); !a.declared[name] {
					a.declared[name] = false
				}
			}
		}
	}
	return a
}

// decide replaces the findings that depend on the build, and leaves out findings that prove nothing in this build.
func (a *app) decide(p *project, b *build, logf tree.Logf) {
	starter := starterOf(b.artifacts)
	isServed := starter != "" && !(needsAnnotation(starter) && analyzer.ProjectHas[finding.Server](p))
	p.Decide(func(_ *analyzer.Package, f finding.Finding) []finding.Finding {
		f = a.meaning(f, b)
		switch of := f.(type) {
		case nil:
			return nil
		case finding.Server:
			of.AutomaticHealth = b.registersHealth(of.Framework, of.AutomaticHealth)
			return []finding.Finding{of}
		case finding.Registration:
			if starter != "" && of.Framework == grpcJava {
				of.Framework = starter
			}
			of.AutomaticHealth = b.registersHealth(of.Framework, of.AutomaticHealth)
			f = of
		case finding.Implementation:
			if isServed && of.Framework == grpcJava {
				of.Framework, of.Served = starter, true
			}
			of.AutomaticHealth = b.registersHealth(of.Framework, of.AutomaticHealth)
			f = of
		}
		framework := finding.FrameworkOf(f)
		if keys := frameworkKeys[framework]; b.settings.have(keys.prefix, keys.off) {
			logf("%s: leaving out the server: %s is not to make one", finding.Where(f), framework)
			return nil
		}
		return []finding.Finding{f}
	})
}

// meaning resolves a finding of one of the JVM's own types in this build; nil means that nothing is proven. Other
// findings stay as they are.
func (a *app) meaning(f finding.Finding, b *build) finding.Finding {
	switch of := f.(type) {
	case conditional:
		_, isSet := b.settings["grpc.server.port"]
		_, isOwn := a.declared[strings.ToLower(of.code)]
		if of.needs == generator && b.has(handlerGenerator) && !isOwn ||
			of.needs == triple && b.settings.servesTriple() ||
			of.needs == builtIn && b.has(netDevhServer) && isSet && !a.serves {
			return of.found
		}
		return nil
	case finding.HealthMade:
		// A class from elsewhere may register the service.
		switch isStandard, isOwn := a.declared[strings.ToLower(of.Class)]; {
		case isStandard:
			return finding.Health{Site: of.Site, Of: of.Of}
		case isOwn:
			return nil
		}
		return finding.HealthElsewhere{Site: of.Site, Of: of.Of}
	case healthNamed:
		// The .proto, if the app has one, says whether the service is the standard one.
		switch defines, ok := a.folders.Innermost(of.Path); {
		case of.isHandler && !b.has(handlerGenerator):
			return nil
		case of.isStandard || defines.Standard:
			return finding.Health{Site: of.Site}
		case !ok:
			return finding.Health{Site: of.AsUnsure()}
		}
		return nil
	case finding.HealthClass, declared:
		return nil
	}
	return f
}

// frameworkSettings returns the findings of the settings about the server of a project's framework: the address, the
// security and whether grpc.health.v1 is disabled. The result is nil if no framework, or more than one, makes a server.
func (b *build) frameworkSettings(p *project) []finding.Finding {
	made, served := makersOf(p)
	of := cmp.Or(made, served)
	keys, known := frameworkKeys[of.framework]
	if !known || made != (maker{}) && served != (maker{}) {
		return nil
	}
	var found []finding.Finding
	if b.settings.have(keys.prefix, keys.health) {
		found = append(found, finding.HealthDisabled{Site: &finding.Site{}})
	}
	byDefault := 0
	for _, f := range frameworks {
		if f.Name == of.framework {
			byDefault = f.Port.Number
		}
	}
	if web, port, ok := b.webServer(of); ok {
		keys, byDefault = web, port
	}
	return append(append(found, b.settings.listener(keys, byDefault)), b.settings.transports(keys)...)
}

// maker is a framework that makes a server.
type maker struct {
	framework       string
	automaticHealth bool // the framework registers grpc.health.v1
}

// makersOf returns the framework of the server that a project makes, and the framework that serves the project's
// registrations and implementations. Either may be empty.
func makersOf(p *project) (made, served maker) {
	for f := range p.All() {
		switch of := f.(type) {
		case finding.Server:
			made = cmp.Or(made, maker{of.Framework, of.AutomaticHealth})
		case finding.Registration:
			if _, hasSettings := frameworkKeys[of.Framework]; hasSettings {
				served = cmp.Or(served, maker{of.Framework, of.AutomaticHealth})
			}
		case finding.Implementation:
			if of.Served {
				served = cmp.Or(served, maker{of.Framework, of.AutomaticHealth})
			}
		}
	}
	return made, served
}

// webServer returns the settings and the default port, or 0, of a web server that serves gRPC in place of a separate
// gRPC server: Spring's (ServerProperties.java), Quarkus' (VertxHttpConfig.java) and Play's without TLS. Helidon 1 to
// 3 register the health service, and have a server for gRPC alone.
func (b *build) webServer(of maker) (keys serverKeys, port int, ok bool) {
	switch of.framework {
	case springGRPC:
		ok = b.has(servletServer) && !b.settings.have("spring.grpc.server.", "servlet.enabled=false")
		return serverKeys{prefix: "server.", port: "port", host: "address", tls: "ssl."}, 8080, ok
	case quarkus:
		ok = b.settings.have("quarkus.grpc.server.", "useseparateserver=false")
		return serverKeys{prefix: "quarkus.http.", port: "port", host: "host"}, 8080, ok
	case helidon:
		return serverKeys{prefix: "grpc.", port: "port"}, 0, of.automaticHealth
	case playGRPC: // serves HTTP/2 by TLS, and without TLS only on request of the app
		ok = b.settings["play.server.https.port"].text == ""
		return serverKeys{prefix: "play.server.http.", port: "port", host: "address"}, 0, ok
	}
	return keys, 0, false
}
