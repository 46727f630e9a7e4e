package jvm

import "github.com/grpc-cnb/health-probe/detect/finding"

// handlerCalled is a call of something named XHandler, or a subclass of AbstractXRouter. They are generated for a gRPC
// service if the build has the plugin that generates them.
type handlerCalled struct {
	*finding.Site
	framework string
}

// healthHandlerCalled is the same for the service grpc.health.v1.
type healthHandlerCalled struct{ *finding.Site }

// springApplication is the class that an app of Spring Boot begins with. If the build has net.devh's starter of a
// server, and nothing in the app serves otherwise, that starter makes a server of its built-in services alone.
type springApplication struct{ *finding.Site }

// dubboService is a service of Dubbo. It is served by gRPC if the protocol is Triple.
type dubboService struct{ *finding.Site }

// healthImplemented is a class that implements grpc.health.v1.
type healthImplemented struct {
	*finding.Site
	class string
}

// healthGiven is a class that a server is given, by a name that may be that of the health service.
type healthGiven struct {
	*finding.Site
	class string
	of    *finding.Site // as in finding.Health
}

// builderHanded is the builder of a server that something named for TLS is given. If no source of the app says what
// secures a server, that is a library's, which may give it TLS.
type builderHanded struct {
	*finding.Site
	of *finding.Site // as in finding.Security
}

func implementsHealth(at *finding.Site, class string) finding.Finding {
	return healthImplemented{at.Quiet(), class}
}

func givesHealth(at *finding.Site, class string) finding.Finding {
	return healthGiven{Site: at.Quiet(), class: class}
}

// healthClasses returns the classes that implement grpc.health.v1 in any project: one may have those of another that
// has a server too.
func healthClasses(projects []*project) map[string]bool {
	classes := map[string]bool{}
	for _, p := range projects {
		for f := range p.All() {
			if f, ok := f.(healthImplemented); ok {
				classes[f.class] = true
			}
		}
	}
	return classes
}

func callsHandler(framework string) finding.Make {
	return func(at *finding.Site, _ string) finding.Finding { return handlerCalled{at, framework} }
}

func callsHealthHandler(at *finding.Site, _ string) finding.Finding { return healthHandlerCalled{at} }

func exportsToDubbo(at *finding.Site, _ string) finding.Finding { return dubboService{at} }

func beginsSpring(at *finding.Site, _ string) finding.Finding { return springApplication{at.Quiet()} }

// notOther makes what another one makes, except of what looks like a service of the app and is none.
func notOther(proves finding.Make) finding.Make {
	return func(at *finding.Site, code string) finding.Finding {
		f := proves(at, code)
		if _, isHealth := f.(finding.Health); !isHealth && otherService.MatchString(code) {
			return nil
		}
		return f
	}
}

// inMain says of the servers that are constructed in a file that it starts a program.
func inMain(found []finding.Finding) []finding.Finding {
	return finding.InMain(found, func(finding.Server) bool { return true })
}
