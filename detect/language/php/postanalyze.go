package php

import (
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// postAnalyze returns a server for each file that makes a server, and one for the configurations of RoadRunner in a
// directory. Where RoadRunner runs a project and no configuration has a gRPC section, its workers serve nothing.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	findListeners(files)
	projects := analyzer.Projects(files, packageOf)
	configuresRoadRunner := func(f analyzer.File[extra]) bool { return f.Extra.configuresRoadRunner }
	for _, p := range projects {
		if slices.ContainsFunc(p.Files, configuresRoadRunner) && !p.Has(analyzer.ServerConstructed) {
			p.Resolve(dropWorker)
		}
		if slices.ContainsFunc(p.Files, func(f analyzer.File[extra]) bool { return f.Extra.isLibrary }) {
			p.Resolve(dropImplementation)
		}
	}
	return analyzer.Servers(projects, logf)
}

// packageOf returns the file itself, or one path for all configurations of RoadRunner in a directory: they are variants
// for the same app.
func packageOf(file string) string {
	if roadRunnerConfig.MatchString(path.Base(file)) {
		return path.Join(path.Dir(file), ".rr.yaml")
	}
	return file
}

// dropWorker leaves out a worker of RoadRunner.
func dropWorker(_ *analyzer.Package, f analyzer.Finding) (analyzer.Finding, bool) {
	isWorker := f.Kind == analyzer.ServiceRegistered || f.Kind == analyzer.ServiceImplemented
	return f, !isWorker || f.Framework != roadRunner
}

// dropImplementation leaves out the implementation of a service: that of a library is served by another program.
func dropImplementation(_ *analyzer.Package, f analyzer.Finding) (analyzer.Finding, bool) {
	return f, f.Kind != analyzer.ServiceImplemented
}

// findListeners gives the listeners their ports that are members of classes in other files, with the places where these
// are written. Where two classes of one name state different ports, the port is not known.
func findListeners(files []analyzer.File[extra]) {
	members := map[string]analyzer.Finding{}
	for _, f := range files {
		for name, port := range f.Extra.properties {
			port.Path = f.Path
			if known, ok := members[name]; ok && known.Port != port.Port {
				port.Port = address.UnknownPort
			}
			members[name] = port
		}
	}
	for _, f := range files {
		for i, listener := range f.Findings {
			if port, ok := members[listener.ImportPath]; ok && listener.Kind == analyzer.Listener {
				f.Findings[i] = port
			}
		}
	}
}
