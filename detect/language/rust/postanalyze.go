package rust

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// crate is a package of Cargo: the files below one Cargo.toml.
type crate = analyzer.Project[extra]

// postAnalyze makes a server of each file that constructs a server.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	files = analyzer.DropUnread(withoutTestModules(files), func(f analyzer.File[extra]) bool {
		return f.Extra.LoadsEnvironment
	})
	crates := analyzer.Projects(withSettings(withDefaults(files)), analyzer.FileIsPackage)
	isStandard := slices.ContainsFunc(files, func(f analyzer.File[extra]) bool { return f.Extra.StandardHealth })
	for _, c := range crates {
		set := settingsOf(c)
		c.Decide(func(_ *analyzer.Package, f finding.Finding) []finding.Finding { return decide(f, isStandard, set) })
	}
	for _, c := range crates {
		if slices.ContainsFunc(c.Files, func(f analyzer.File[extra]) bool { return f.Extra.Workspace }) {
			joinWorkspace(workspaceMembers(c, crates))
		}
	}
	return analyzer.Servers(crates, logf)
}

// decide takes a HealthServer as grpc.health.v1's if the app has the standard health.proto or code generated from it.
// Without these the server is of a service of the app's own.
// settings replace the defaults of the fields of a listener.
func decide(f finding.Finding, isStandard bool, settings map[string]address.Value) []finding.Finding {
	switch f := f.(type) {
	case configuredListener:
		return []finding.Finding{f.decided(settings)}
	case routes:
		return []finding.Finding{f.Registration}
	case healthServer:
		if isStandard {
			return []finding.Finding{finding.Health{Site: f.Site}}
		}
		return nil
	}
	return []finding.Finding{f}
}

// withoutTestModules leaves out the files of modules that other files declare for tests only.
func withoutTestModules(files []analyzer.File[extra]) []analyzer.File[extra] {
	modules := map[string]bool{}
	for _, f := range files {
		for _, m := range f.Extra.TestModules {
			modules[m] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(files), func(f analyzer.File[extra]) bool {
		for p := strings.TrimSuffix(f.Path, ".rs"); p != "." && p != "/"; p = path.Dir(p) {
			if modules[p] {
				return true
			}
		}
		return false
	})
}

// workspaceMembers returns the crates of a workspace: all crates below it.
func workspaceMembers(workspace *crate, all []*crate) []*crate {
	var members []*crate
	for _, c := range all {
		if workspace.Dir == "." || c == workspace || strings.HasPrefix(c.Dir, workspace.Dir+"/") {
			members = append(members, c)
		}
	}
	return members
}

// joinWorkspace takes the crates of a workspace together if one of them constructs a server. The other crates are
// its libraries: the server serves the services that they implement, so they are no servers of their own, and a health
// service that they register is registered with that server.
func joinWorkspace(members []*crate) {
	var servers, libraries []*crate
	for _, c := range members {
		if analyzer.ProjectHas[finding.Server](c) {
			servers = append(servers, c)
		} else {
			libraries = append(libraries, c)
		}
	}
	if len(servers) == 0 {
		return
	}
	var healthPackages []*analyzer.Package
	for _, c := range libraries {
		c.Drop(func(f finding.Finding) bool {
			return !finding.Is[finding.Health](f) && !finding.Is[finding.HealthStatus](f)
		})
		for _, in := range c.Packages {
			if len(in.Findings) > 0 {
				healthPackages = append(healthPackages, in)
			}
		}
	}
	for _, c := range servers {
		c.Packages = append(c.Packages, healthPackages...)
	}
}
