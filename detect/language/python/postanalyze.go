package python

import (
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// postAnalyze makes a server of each source that constructs a server.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	files = analyzer.DropBazelTests(files, func(f analyzer.File[extra]) []string { return f.Extra.TestFiles })
	all := analyzer.Projects(files, analyzer.FileIsPackage)
	custom := customHealthModules(files)
	for _, p := range all {
		resolve(p, custom)
	}
	analyzer.ResolveListeners(all, func(f analyzer.File[extra]) []analyzer.Constant { return f.Extra.Constants })
	return analyzer.Servers(all, logf)
}

// customHealthModules returns the names of the modules that have a service Health which is not grpc.health.v1's.
func customHealthModules(files []analyzer.File[extra]) map[string]bool {
	modules := map[string]bool{}
	for _, f := range files {
		if f.Extra.CustomHealth {
			modules[strings.TrimSuffix(path.Base(f.Path), ".py")] = true
		}
	}
	return modules
}

// resolve leaves out health services of the app's own making, and registrations that only a gRPC-Web server serves.
// Other registrations get the framework that serves them.
func resolve(p *analyzer.Project[extra], customHealth map[string]bool) {
	constructs := p.Has(analyzer.ServerConstructed)
	webOnly := p.Has(webServerConstructed) && !constructs
	framework := ""
	if !constructs {
		framework = servingFramework(p)
	}
	p.Resolve(func(_ *analyzer.Package, f analyzer.Finding) (analyzer.Finding, bool) {
		switch f.Kind {
		case webServerConstructed:
			return f, false
		case analyzer.HealthRegistered:
			return f, !customHealth[moduleOf(f.ImportPath)]
		case analyzer.ServiceRegistered:
			if framework != "" {
				f.Framework = framework
			}
			return f, !webOnly
		}
		return f, true
	})
}

// servingFramework returns the framework that constructs the server of a project whose sources construct none: one
// whose services are among the registrations. It is "" where all registrations are plain grpcio.
func servingFramework(p *analyzer.Project[extra]) string {
	framework := ""
	for _, in := range p.Packages {
		for _, f := range in.Findings {
			if (f.Kind == analyzer.ServiceRegistered || f.FrameworkServes) && f.Framework != grpcio {
				framework = f.Framework
			}
		}
	}
	return framework
}

// moduleOf returns the last part of the module in a full name: "health_pb2_grpc" of
// "app.health_pb2_grpc.add_HealthServicer_to_server".
func moduleOf(full string) string {
	parts := strings.Split(full, ".")
	return parts[max(0, len(parts)-2)]
}
