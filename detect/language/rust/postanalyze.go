package rust

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// crate is a package of Cargo: the files below one Cargo.toml.
type crate = analyzer.Project[extra]

// postAnalyze makes a server of each file that constructs a server.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	files = withoutTestModules(files)
	exampleOf, shown := examples(files), map[string]bool{}
	files = slices.DeleteFunc(files, func(f analyzer.File[extra]) bool {
		of := exampleOf(f.Path)
		shown[of] = true
		return of != ""
	})
	files = analyzer.DropUnread(files, func(f analyzer.File[extra]) bool {
		return f.Extra.LoadsEnvironment
	})
	crates := analyzer.Projects(withFields(withSettings(withDefaults(files))), analyzer.FileIsPackage)
	shareEnvironment(crates)
	isStandard := slices.ContainsFunc(files, func(f analyzer.File[extra]) bool { return f.Extra.StandardHealth })
	libraries := map[string]bool{"": true}
	for _, f := range files {
		libraries[f.Extra.Library] = true
	}
	names := newNamed(crates)
	isOld := slices.ContainsFunc(files, func(f analyzer.File[extra]) bool { return f.Extra.OldHealth })
	for _, c := range crates {
		nameLibrary(c)
		set := settingsOf(c)
		c.Decide(func(_ *analyzer.Package, f finding.Finding) []finding.Finding {
			switch of := f.(type) {
			case healthServer:
				return decideHealth(of, isStandard, libraries)
			case finding.HealthStatus:
				f = names.status(of)
			case finding.Health:
				of.NeedsStatus = of.NeedsStatus || isOld
				f = of
			}
			return decide(f, set)
		})
	}
	dropLibraries(crates, shown)
	for _, c := range crates {
		if cargoOf(c).Workspace != nil {
			joinWorkspace(workspaceMembers(c, crates))
		}
	}
	return analyzer.Servers(crates, logf)
}

// nameLibrary takes what the programs of a crate give to its library by its name, my_crate::run(50051), as given by
// crate::run(50051).
func nameLibrary(c *crate) {
	library := ""
	for _, f := range c.Files {
		library = cmp.Or(library, f.Extra.Library)
	}
	for _, f := range c.Files {
		for i, d := range f.Declares {
			if rest, ok := strings.CutPrefix(d.Name, library+"::"); ok && library != "" {
				f.Declares[i].Name = "::" + rest
			}
		}
	}
}

// decideHealth takes a HealthServer as grpc.health.v1's if the app has the standard health.proto or code generated from
// it. Without these the server of a crate of the app is that of a service of the app's own, unless it is of the crate
// grpc, and of another crate it is not known which service that is.
func decideHealth(f healthServer, isStandard bool, libraries map[string]bool) []finding.Finding {
	switch {
	case isStandard:
		return []finding.Finding{finding.Health{Site: f.Site}}
	case libraries[f.crate] && !f.mayBeStandard:
		return nil
	}
	return []finding.Finding{finding.Health{Site: f.AsUnsure()}}
}

// decide returns what a finding stands for. settings replace the defaults of the fields of a listener.
func decide(f finding.Finding, settings map[string]address.Value) []finding.Finding {
	switch f := f.(type) {
	case configuredListener:
		return []finding.Finding{f.decided(settings)}
	case routes:
		return []finding.Finding{f.Finding}
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

// examples returns a function that returns the directory of the package that a file is an example of, "" for another
// file. Cargo builds examples into no program (The Cargo Book, Cargo Targets). A folder of examples may have packages
// of its own.
func examples(files []analyzer.File[extra]) func(file string) string {
	crates := map[string]bool{}
	for _, f := range files {
		if f.ProjectRoot {
			crates[path.Dir(f.Path)] = true
		}
	}
	return func(file string) string {
		for dir := range tree.Ancestors(file) {
			if crates[dir] {
				return ""
			}
			if path.Base(dir) == "examples" {
				return path.Dir(dir)
			}
		}
		return ""
	}
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

// mayServe reports whether a finding of a library says something of a server in it: all but its health service do.
func mayServe(f finding.Finding) bool {
	return !finding.Is[finding.Health](f) && !finding.Is[finding.HealthStatus](f)
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
		c.Drop(mayServe)
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
