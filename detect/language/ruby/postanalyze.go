package ruby

import (
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

type project = analyzer.Project[stub]

// postAnalyze returns a server for each source that makes a server.
func postAnalyze(files []analyzer.File[stub], logf tree.Logf) []plan.Server {
	files = analyzer.DropUnread(files, func(f analyzer.File[stub]) bool { return f.Extra.LoadsEnvironment })
	analyzer.ReplaceEnvironment(files, func(f analyzer.File[stub]) bool { return f.Extra.ReplacesEnvironment })
	all := analyzer.Projects(files, analyzer.FileIsPackage)
	generated, folders := map[string]bool{}, analyzer.HealthFoldersOf(files)
	for _, f := range files {
		for _, name := range f.Extra.Services {
			generated[name] = true
		}
	}
	for _, p := range all {
		resolve(p, generated, folders)
		analyzer.AddDefaultListeners(frameworks, p)
	}
	analyzer.DoubtHealth(all)
	return analyzer.Servers(all, logf)
}

// resolve decides findings that depend on the rest of the app. generated are the services in the app's stubs.
func resolve(p *project, generated map[string]bool, folders analyzer.HealthFolders) {
	onlyControllers := servesOnlyControllers(p)
	p.Decide(func(in *analyzer.Package, f finding.Finding) []finding.Finding {
		switch of := f.(type) {
		case serviceSubclass:
			if generated[of.service] {
				return []finding.Finding{finding.Implementation{Site: of.Site, Framework: grpc}}
			}
			return nil
		case healthSubclass:
			if isOwn := of.mayBeOwn && folders.IsOwn(in.Path); !onlyControllers && !isOwn {
				return []finding.Finding{finding.Health{Site: of.Site}}
			}
			return nil
		}
		return []finding.Finding{f}
	})
}

// servesOnlyControllers reports whether gruf serves the project and has only controllers. Then gruf does not serve an
// implementation of the health service that is no controller.
func servesOnlyControllers(p *project) bool {
	if analyzer.ProjectHas[finding.Server](p) || analyzer.ProjectHas[servicesOption](p) {
		return false
	}
	for f := range p.All() {
		switch f := f.(type) {
		case finding.Registration:
			return f.Framework == gruf
		case finding.Implementation:
			if f.Served {
				return f.Framework == gruf
			}
		}
	}
	return false
}
