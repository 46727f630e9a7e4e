package jvm

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// postAnalyze returns a server for each server that is made, and for each project whose framework makes one.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	projects := analyzer.Projects(files, analyzer.FileIsPackage)
	app := newApp(files, projects)
	m := newModules(files, projects)
	for _, p := range projects {
		b := m.builds[p]
		app.decide(p, b, logf)
		if found := b.frameworkSettings(p); found != nil {
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

// app is what all projects of an app tell.
type app struct {
	serves   bool // it makes a server, or implements a service
	folders  analyzer.HealthFolders
	classes  map[string]bool // those that implement grpc.health.v1, in small letters
	declared map[string]bool // classes and functions that are named for health, in small letters
}

func newApp(files []analyzer.File[extra], projects []*project) *app {
	a := &app{false, analyzer.HealthFolders{}, map[string]bool{}, map[string]bool{}}
	for _, f := range files {
		a.folders.Add(f.Path, f.Extra.health)
	}
	for _, p := range projects {
		for f := range p.All() {
			switch of := f.(type) {
			case finding.Server, finding.Registration, finding.Implementation, handlerCalled, dubboService:
				a.serves = true
			case finding.HealthClass:
				a.classes[strings.ToLower(of.Class)] = true
			case healthDeclared:
				a.declared[strings.ToLower(of.name)] = true
			}
		}
	}
	return a
}

// netDevhServer is net.devh's starter that makes a server in any case (GrpcServerLifecycle.java): that for servers and
// clients is as often there for clients.
var netDevhServer = lazyregexp.New(`^net\.devh:grpc-server-spring-boot-starter\b`)

// decide replaces the findings that depend on the build. It leaves out those that prove nothing in this one.
func (a *app) decide(p *project, b *build, logf tree.Logf) {
	starter := starterOf(b.artifacts)
	isServedByStarter := starter != "" && !(needsAnnotation(starter) && constructsServer(p))
	p.Decide(func(_ *analyzer.Package, f finding.Finding) []finding.Finding {
		switch of := f.(type) {
		case finding.Registration:
			if starter != "" && of.Framework == grpcJava {
				of.Framework = starter
			}
			f = of
		case finding.Implementation:
			if isServedByStarter && of.Framework == grpcJava {
				of.Framework, of.Served = starter, true
			}
			f = of
		default:
			f = a.meaning(f, b)
		}
		if f == nil {
			return nil
		}
		f = b.withHealth(f)
		if framework, at := servedBy(f); b.isOff(framework) {
			logf("%s: leaving out the server: %s is not to make one", at, framework)
			return nil
		}
		return []finding.Finding{f}
	})
}

// withHealth says of what proves a server whether its framework registers grpc.health.v1 in this build.
func (b *build) withHealth(f finding.Finding) finding.Finding {
	switch of := f.(type) {
	case finding.Server:
		of.AutomaticHealth = b.registersHealth(of.Framework, of.AutomaticHealth)
		return of
	case finding.Registration:
		of.AutomaticHealth = b.registersHealth(of.Framework, of.AutomaticHealth)
		return of
	case finding.Implementation:
		of.AutomaticHealth = b.registersHealth(of.Framework, of.AutomaticHealth)
		return of
	}
	return f
}

// meaning returns what a finding of a type of the JVM's own proves in this build, nil for nothing. Other findings prove
// what they are.
func (a *app) meaning(f finding.Finding, b *build) finding.Finding {
	switch of := f.(type) {
	case handlerCalled:
		switch {
		case !b.has(handlerGenerator):
			return nil
		case of.framework == playGRPC:
			return finding.Serves(playGRPC)(of.Site, "")
		}
		return finding.Constructs(of.framework)(of.Site, "")
	case springApplication:
		if a.serves || !b.has(netDevhServer) {
			return nil
		}
		return finding.WithHealth(finding.Serves(netDevh))(of.Site, "")
	case dubboService:
		if !b.settings.servesTriple() {
			return nil
		}
		return finding.Serves(dubbo)(of.Site, "")
	case finding.HealthMade:
		return a.madeHealth(of)
	case healthNamed:
		return a.namedHealth(of)
	case healthHandlerCalled:
		if !b.has(handlerGenerator) || of.IsUnsure() && a.folders.IsOwn(of.Path) {
			return nil
		}
		return finding.Health{Site: of.Site}
	case finding.HealthClass, healthDeclared:
		return nil
	}
	return f
}

// madeHealth returns what it proves that a server is given something named for health: the service, if its class
// implements that. What is not the app's own may register it.
func (a *app) madeHealth(of finding.HealthMade) finding.Finding {
	name := strings.ToLower(of.Class)
	switch {
	case a.classes[name]:
		return finding.Health{Site: of.Site, Of: of.Of}
	case a.declared[name]:
		return nil
	}
	return finding.HealthElsewhere{Site: of.Site, Of: of.Of}
}

// namedHealth returns what a service Health proves whose package ends like that of the standard one: its .proto says
// whether it is that, if the app has it.
func (a *app) namedHealth(of healthNamed) finding.Finding {
	switch defines, ok := a.folders.Innermost(of.Path); {
	case !ok:
		return finding.Health{Site: of.AsUnsure()}
	case defines.Standard:
		return finding.Health{Site: of.Site}
	}
	return nil
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

// frameworkSettings returns what the settings say of the server that the framework of a project makes: the address, the
// security and whether grpc.health.v1 is disabled. It is nil if no framework makes one.
func (b *build) frameworkSettings(p *project) []finding.Finding {
	framework, automaticHealth := implied(p)
	keys, known := frameworkKeys[framework]
	if !known {
		return nil
	}
	var found []finding.Finding
	if slices.ContainsFunc(keys.health, b.settings.have) {
		found = append(found, finding.HealthDisabled{Site: &finding.Site{}})
	}
	byDefault := defaultPort(framework)
	if port, ok := b.servesByWebServer(framework, automaticHealth); ok {
		keys, byDefault = webKeys[framework], port
	}
	return append(append(found, b.settings.listener(keys, byDefault)), b.settings.transport(keys)...)
}

// defaultPort returns where a server of a framework listens if nothing says so, 0 if the framework has none.
func defaultPort(framework string) int {
	for _, f := range frameworks {
		if f.Name == framework {
			return f.Port.Number
		}
	}
	return 0
}

// isOff reports whether settings tell a framework to make no server.
func (b *build) isOff(framework string) bool {
	off := frameworkKeys[framework].off
	return off != "" && b.settings.have(off)
}

// implied returns the framework of the server of a project that a framework makes or configures, and whether that
// registers grpc.health.v1. It is "" if the project makes its server by itself or has none, or if several frameworks
// make one.
func implied(p *project) (framework string, automaticHealth bool) {
	framework, automaticHealth = served(p)
	for f := range p.All() {
		if f, ok := f.(finding.Server); ok {
			isOne := framework == "" || framework == f.Framework
			if isOne && (f.Framework == helidon || f.Framework == armeria) {
				return f.Framework, f.AutomaticHealth
			}
			return "", false
		}
	}
	return framework, automaticHealth
}

// served returns the framework that serves what a project implements or registers, and whether that registers
// grpc.health.v1.
func served(p *project) (framework string, automaticHealth bool) {
	for _, in := range p.Packages {
		if f, ok := finding.First[finding.Registration](in.Findings); ok {
			return f.Framework, f.AutomaticHealth
		}
		for f := range finding.All[finding.Implementation](in.Findings) {
			if f.Served {
				return f.Framework, f.AutomaticHealth
			}
		}
	}
	return "", false
}

// servesByWebServer returns the default port, or 0, of a web server that serves gRPC instead of a server of its own.
func (b *build) servesByWebServer(framework string, automaticHealth bool) (port int, ok bool) {
	switch {
	case framework == springGRPC && b.has(servletServer):
		return 8080, !b.settings.have("spring.grpc.server.servlet.enabled=false")
	case framework == quarkus:
		return 8080, b.settings.have("quarkus.grpc.server.useseparateserver=false")
	case framework == helidon: // Helidon 1 to 3, which register the health service, have a server for gRPC alone
		return 0, automaticHealth
	case framework == playGRPC: // Play serves HTTP/2 by TLS, and without it if the app asks for that
		return 0, b.settings.values["play.server.https.port"].text == ""
	}
	return 0, false
}

// inLanguage returns the name of a framework in a language: grpc-java has others in Kotlin and Scala.
func inLanguage(framework, language string) string {
	if framework == grpcJava {
		return plainFramework[language]
	}
	return framework
}
