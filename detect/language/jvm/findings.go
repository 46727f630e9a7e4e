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

// builderHanded is the builder of a server that something named for TLS is given. If no source of the app says what
// secures a server, that is a library's, which may give it TLS.
type builderHanded struct {
	*finding.Site
	of *finding.Site // as in finding.Security
}

// healthNamed is the registration of a service Health whose package ends like that of the standard one, and may be the
// app's own.
type healthNamed struct{ *finding.Site }

// healthImplemented is a class that implements grpc.health.v1. A framework serves it by itself; a server that the app
// makes has it only if it is given an object of it.
type healthImplemented struct {
	*finding.Site
	class string
}

// healthHelper is a call that gives a server, or its builder, to what is named for health, and healthDeclared a class
// or a function of the app's own with such a name. What is not the app's own may register the health service.
type healthHelper struct {
	*finding.Site
	name string
}

// anyServiceAdded is where a server is given a service whose class is not seen, one of several.
type anyServiceAdded struct{ *finding.Site }

type healthDeclared struct {
	*finding.Site
	name string
}

func namesHealth(at *finding.Site, _ string) finding.Finding { return healthNamed{at} }

func callsHelper(at *finding.Site, name string) finding.Finding { return healthHelper{at, name} }

func addsAny(at *finding.Site, _ string) finding.Finding { return anyServiceAdded{at.Quiet()} }

func declaresHealth(at *finding.Site, name string) finding.Finding {
	return healthDeclared{at.Quiet(), name}
}

func implementsHealth(at *finding.Site, class string) finding.Finding {
	return finding.HealthClass{Site: at.Quiet(), Class: class}
}

func givesHealth(at *finding.Site, class string) finding.Finding {
	return finding.HealthMade{Site: at.Quiet(), Class: class}
}

// classesOf returns the classes that findings of a type name in any project: one may have those of another that has a
// server too.
func classesOf[F finding.Finding](projects []*project, class func(F) string) map[string]bool {
	classes := map[string]bool{}
	for _, p := range projects {
		for f := range p.All() {
			if f, ok := f.(F); ok {
				classes[class(f)] = true
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
		isHealth := finding.Is[finding.Health](f) || finding.Is[healthNamed](f)
		if !isHealth && otherService.MatchString(code) {
			return nil
		}
		return f
	}
}

// inMain says of the servers that are constructed in a file that it starts a program.
func inMain(found []finding.Finding) []finding.Finding {
	return finding.InMain(found, func(finding.Server) bool { return true })
}
