package dotnet

import (
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

type project = analyzer.Project[extra]

// postAnalyze returns a server for each project that maps services, and for each server of Grpc.Core. Test projects
// are left out.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	all := analyzer.Projects(files, analyzer.FileIsPackage)
	projects := slices.DeleteFunc(slices.Clone(all), func(p *project) bool { return msbuildOf(p).isTest })
	a := newApp(projects)
	for _, p := range projects {
		a.resolve(p)
	}
	// A library that has test packages looks like a test, and may declare what programs use.
	analyzer.ResolveListeners(all, func(f analyzer.File[extra]) []analyzer.Constant { return f.Extra.constants })
	shareLibraryHealth(projects)
	analyzer.DropBuilt(projects)
	servers := analyzer.Servers(projects, logf)

	published := map[string]string{}
	for _, f := range files {
		published[f.Path] = f.Extra.language
	}
	for i := range servers {
		s := &servers[i]
		if s.Language = languageOf[path.Ext(s.Evidence.Path)]; s.Built {
			s.Language = published[s.Evidence.Path]
		}
	}
	return servers
}

// msbuildOf returns what the file of a project tells. A project without a file is a program.
func msbuildOf(p *project) msbuildProject {
	for _, f := range p.Files {
		if f.Extra.project != nil && path.Dir(f.Path) == p.Dir {
			return *f.Extra.project
		}
	}
	return msbuildProject{}
}

// app is what the findings in one project have to know about all projects of the app.
type app struct {
	// healthClasses are the names of the classes that implement the health service.
	healthClasses map[string]bool
	// serverKind is the kind of finding that stands for a server in this app.
	serverKind analyzer.Kind
}

func newApp(projects []*project) app {
	a := app{healthClasses: map[string]bool{"HealthServiceImpl": true}}
	for _, p := range projects {
		for _, in := range p.Packages {
			for _, f := range in.Findings {
				if f.Kind == healthImplemented {
					a.healthClasses[f.ImportPath] = true
				}
			}
		}
	}
	a.serverKind = a.surestKind(projects)
	return a
}

// surestKind returns the kind of finding that stands for a server in the app: the surest one that there is. It is
// ServiceRegistered where a source maps a service by its name or constructs a server, so that findings that prove less
// do not count.
func (a app) surestKind(projects []*project) analyzer.Kind {
	present := map[analyzer.Kind]bool{}
	for _, p := range projects {
		isLibrary := msbuildOf(p).isLibrary
		for _, in := range p.Packages {
			for _, f := range in.Findings {
				// A library may add what another app serves.
				if !isLibrary || f.Kind != grpcAdded {
					present[f.Kind] = true
				}
				if f.Kind == analyzer.ServerConstructed && !in.Built || a.isOwnService(f) {
					present[analyzer.ServiceRegistered] = true
				}
			}
		}
	}
	switch {
	case present[analyzer.ServiceRegistered]:
		return analyzer.ServiceRegistered
	case present[anyServiceMapped]:
		return anyServiceMapped
	case present[grpcAdded] && !present[addGrpcDefined]:
		return grpcAdded
	}
	return analyzer.ServiceRegistered
}

// isOwnService reports whether a finding is the mapping of a service of the app, and not of the health service.
func (a app) isOwnService(f analyzer.Finding) bool {
	return f.Kind == serviceMapped && !a.healthClasses[f.ImportPath]
}

// resolve replaces the findings of a project whose meaning depends on the app by general ones, where they have one.
func (a app) resolve(p *project) {
	framework := mappedFramework(p)
	isLibrary := msbuildOf(p).isLibrary
	usesKestrel := !p.Has(analyzer.ServerConstructed)
	p.Resolve(func(_ *analyzer.Package, f analyzer.Finding) (analyzer.Finding, bool) {
		switch {
		case f.Kind == serviceMapped && a.healthClasses[f.ImportPath]:
			f.Kind = analyzer.HealthRegistered
		case f.Kind == serviceMapped, f.Kind == anyServiceMapped && a.serverKind == anyServiceMapped:
			f.Kind, f.Framework = analyzer.ServiceRegistered, framework
		case f.Kind == a.serverKind && !isLibrary:
			f.Kind = analyzer.ServiceRegistered
		case f.Kind == kestrelListener && usesKestrel:
			f.Kind = analyzer.Listener
		}
		return f, true
	})
}

// mappedFramework returns the framework whose services MapGrpcService maps in a project.
func mappedFramework(p *project) string {
	addsCodeFirst := func(f analyzer.Finding) bool { return f.Kind == grpcAdded && f.Framework == codeFirst }
	for _, in := range p.Packages {
		if slices.ContainsFunc(in.Findings, addsCodeFirst) {
			return codeFirst
		}
	}
	return aspNetCore
}

// shareLibraryHealth gives each project with a server the health service that a library registers for the programs
// which refer to it, as the ServiceDefaults of .NET Aspire do. The finding comes without its excerpt: it is logged
// where it is.
func shareLibraryHealth(projects []*project) {
	byDir := map[string]*project{}
	for _, p := range projects {
		byDir[p.Dir] = p
	}
	for _, p := range projects {
		if !p.Has(analyzer.ServiceRegistered) {
			continue
		}
		if f, ok := libraryHealth(p, byDir, map[*project]bool{}); ok {
			shared := &analyzer.Package{Path: "libraries", Findings: []analyzer.Finding{f.At(f.Line, "")}}
			p.Packages = append(p.Packages, shared)
		}
	}
}

// libraryHealth returns the first health service that the libraries of a project register, and theirs. seen are the
// projects that were looked at.
func libraryHealth(p *project, byDir map[string]*project, seen map[*project]bool) (analyzer.Finding, bool) {
	for _, reference := range msbuildOf(p).references {
		library := byDir[path.Join(p.Dir, path.Dir(reference))]
		if library == nil || seen[library] || !msbuildOf(library).isLibrary {
			continue
		}
		seen[library] = true
		for _, in := range library.Packages {
			if f, ok := in.First(analyzer.HealthRegistered); ok {
				return f, true
			}
		}
		if f, ok := libraryHealth(library, byDir, seen); ok {
			return f, true
		}
	}
	return analyzer.Finding{}, false
}
