package ruby

import (
	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

type project = analyzer.Project[stub]

// postAnalyze returns a server for each source that makes a server.
func postAnalyze(files []analyzer.File[stub], logf tree.Logf) []plan.Server {
	findListeners(files)
	all := analyzer.Projects(files, analyzer.FileIsPackage)
	generated := map[string]bool{}
	for _, f := range files {
		for _, name := range f.Extra.Services {
			generated[name] = true
		}
	}
	for _, p := range all {
		resolve(p, generated)
		addDefaultPorts(p)
	}
	return analyzer.Servers(all, logf)
}

// resolve decides the findings that depend on others of the app. generated are the names of the services in its stubs.
func resolve(p *project, generated map[string]bool) {
	onlyControllers := servesOnlyControllers(p)
	p.Resolve(func(_ *analyzer.Package, f analyzer.Finding) (analyzer.Finding, bool) {
		switch f.Kind {
		case serviceSubclass:
			f.Kind = analyzer.ServiceImplemented
			return f, generated[f.ImportPath]
		case healthSubclass:
			f.Kind = analyzer.HealthRegistered
			return f, !onlyControllers
		case servicesOption:
			return f, false
		}
		return f, true
	})
}

// defaultPorts are where frameworks listen that nobody tells to listen elsewhere: gruf (lib/gruf/configuration.rb) and
// AnyCable (lib/anycable/grpc/config.rb).
var defaultPorts = map[string]int{gruf: 9001, anyCable: 50051}

// addDefaultPorts adds the default ports of the frameworks to a project that says nothing of ports.
func addDefaultPorts(p *project) {
	if p.Has(analyzer.Listener) {
		return
	}
	for _, in := range p.Packages {
		for _, f := range in.Findings {
			if port := defaultPorts[f.Framework]; port != 0 {
				in.Findings = append(in.Findings, analyzer.Finding{Kind: analyzer.Listener, Place: f.Place, Port: port})
				break
			}
		}
	}
}

// findListeners gives the listeners their ports that are constants or settings of other files, with the places where
// these are written. Where two files state different ports, the port is not known.
func findListeners(files []analyzer.File[stub]) {
	known := map[string]analyzer.Finding{}
	for _, f := range files {
		for name, port := range f.Extra.settings {
			port.Path = f.Path
			if other, ok := known[name]; ok && other.Port != port.Port {
				port.Port = address.UnknownPort
			}
			known[name] = port
		}
	}
	for _, f := range files {
		for i, listener := range f.Findings {
			if port, ok := known[listener.ImportPath]; ok && listener.Kind == analyzer.Listener {
				f.Findings[i] = port
			}
		}
	}
}

// servesOnlyControllers reports whether gruf serves the project and is given nothing but controllers. Then an
// implementation of the health service that is no controller is not served.
func servesOnlyControllers(p *project) bool {
	if p.Has(analyzer.ServerConstructed, servicesOption) {
		return false
	}
	for _, in := range p.Packages {
		for _, f := range in.Findings {
			if f.Framework != "" && (f.Kind == analyzer.ServiceRegistered || f.FrameworkServes) {
				return f.Framework == gruf
			}
		}
	}
	return false
}
