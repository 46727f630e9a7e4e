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
