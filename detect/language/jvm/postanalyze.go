package jvm

import (
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

// inLanguage returns the name of a framework in a language: grpc-java has others in Kotlin and Scala.
func inLanguage(framework, language string) string {
	if framework == grpcJava {
		return plainFramework[language]
	}
	return framework
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
	isServed := starter != "" && !(needsAnnotation(starter) && constructs(p))
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

// constructs reports whether a project makes a server with grpc-java itself.
func constructs(p *project) bool {
	for f := range p.All() {
		if s, ok := f.(finding.Server); ok && s.Framework == grpcJava {
			return true
		}
	}
	return false
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
	case healthHandlerCalled:
		if !b.has(handlerGenerator) || of.IsUnsure() && a.folders.IsOwn(of.Path) {
			return nil
		}
		return finding.Health{Site: of.Site}
	case finding.HealthMade:
		// What is not the app's own may register the service.
		switch name := strings.ToLower(of.Class); {
		case a.classes[name]:
			return finding.Health{Site: of.Site, Of: of.Of}
		case a.declared[name]:
			return nil
		}
		return finding.HealthElsewhere{Site: of.Site, Of: of.Of}
	case healthNamed:
		// Its .proto says whether it is the standard one, if the app has it.
		switch defines, ok := a.folders.Innermost(of.Path); {
		case !ok:
			return finding.Health{Site: of.AsUnsure()}
		case defines.Standard:
			return finding.Health{Site: of.Site}
		}
		return nil
	case finding.HealthClass, healthDeclared:
		return nil
	}
	return f
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
	if b.settings.have(keys.prefix, keys.health) {
		found = append(found, finding.HealthDisabled{Site: &finding.Site{}})
	}
	byDefault := 0
	for _, f := range frameworks {
		if f.Name == framework {
			byDefault = f.Port.Number
		}
	}
	if port, ok := b.servesByWebServer(framework, automaticHealth); ok {
		keys, byDefault = webKeys[framework], port
	}
	return append(append(found, b.settings.listener(keys, byDefault)), b.settings.transports(keys)...)
}

// implied returns the framework of the server of a project that a framework makes or configures, and whether that
// registers grpc.health.v1. It is "" if the project makes its server by itself or has none, or if several frameworks
// make one.
func implied(p *project) (framework string, automaticHealth bool) {
	var makes *finding.Server
	for f := range p.All() {
		switch of := f.(type) {
		case finding.Server:
			if makes == nil {
				makes = &of
			}
		case finding.Registration:
			if framework == "" {
				framework, automaticHealth = of.Framework, of.AutomaticHealth
			}
		case finding.Implementation:
			if framework == "" && of.Served {
				framework, automaticHealth = of.Framework, of.AutomaticHealth
			}
		}
	}
	switch {
	case makes == nil:
		return framework, automaticHealth
	case framework == "" && (makes.Framework == helidon || makes.Framework == armeria):
		return makes.Framework, makes.AutomaticHealth
	}
	return "", false
}

// servesByWebServer returns the default port, or 0, of a web server that serves gRPC instead of a server of its own.
func (b *build) servesByWebServer(framework string, automaticHealth bool) (port int, ok bool) {
	switch framework {
	case springGRPC:
		return 8080, b.has(servletServer) && !b.settings.have("spring.grpc.server.", "servlet.enabled=false")
	case quarkus:
		return 8080, b.settings.have("quarkus.grpc.server.", "useseparateserver=false")
	case helidon: // 1 to 3, which register the health service
		return 0, automaticHealth
	case playGRPC: // it serves HTTP/2 by TLS, and without it if the app asks for that
		return 0, b.settings["play.server.https.port"].text == ""
	}
	return 0, false
}
