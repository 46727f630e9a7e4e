package jvm

import "github.com/grpc-cnb/health-probe/detect/analyzer"

// The kinds of findings that mean something only together with the build or the settings of the project.
const (
	// handlerCalled is a call of something named XHandler, or a subclass of AbstractXRouter. They are generated for a
	// gRPC service if the build has the plugin that generates them.
	handlerCalled analyzer.Kind = "java: handler called"
	// healthHandlerCalled is the same for the service grpc.health.v1.
	healthHandlerCalled analyzer.Kind = "java: health handler called"
	// dubboService is a service of Dubbo. It is served by gRPC if the protocol is Triple.
	dubboService analyzer.Kind = "java: Dubbo service"
)

var (
	healthRegistered = analyzer.Finding{Kind: analyzer.HealthRegistered}
	dubboExported    = analyzer.Finding{Kind: dubboService, Framework: dubbo}
)

// serverOf is the finding that a server of a framework is made.
func serverOf(framework string) analyzer.Finding {
	return analyzer.Finding{Kind: analyzer.ServerConstructed, Framework: framework}
}

// serviceOf is the finding that a service is registered with a server of a framework.
func serviceOf(framework string) analyzer.Finding {
	return analyzer.Finding{Kind: analyzer.ServiceRegistered, Framework: framework}
}

// implementationOf is the finding that a service is implemented, for whoever makes a server of it.
func implementationOf(framework string) analyzer.Finding {
	return analyzer.Finding{Kind: analyzer.ServiceImplemented, Framework: framework}
}

// servedBy is the finding that a service is implemented and that a framework makes the server of it.
func servedBy(framework string) analyzer.Finding {
	f := implementationOf(framework)
	f.FrameworkServes = true
	return f
}

// inMain says of the servers that are constructed in a file that it starts a program.
func inMain(found []analyzer.Finding) {
	for i := range found {
		found[i].InMain = found[i].Kind == analyzer.ServerConstructed
	}
}

// withHealth says of a finding that the framework registers grpc.health.v1 by itself.
func withHealth(f analyzer.Finding) analyzer.Finding {
	f.AutomaticHealth = true
	return f
}
