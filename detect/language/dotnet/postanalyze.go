package dotnet

import (
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

type project = analyzer.Project[extra]

// postAnalyze returns a server for each project that maps services, and for each server of Grpc.Core. Test projects
// are left out.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	projects := analyzer.Projects(files, analyzer.FileIsPackage)
	projects = slices.DeleteFunc(projects, func(p *project) bool { return p.Manifest().project.isTest })
	libraries := librariesOf(projects)
	for _, p := range projects {
		p.IsProgram = !p.Manifest().project.isLibrary
	}
	a := newApp(projects)
	for _, p := range projects {
		a.resolve(p)
	}
	for _, p := range projects {
		if firstMapping(p) != nil {
			dropUnmade(append(libraries[p], p))
		}
	}
	for _, p := range projects {
		place(p, libraries[p])
	}
	for _, p := range projects { // as the ServiceDefaults of .NET Aspire do
		if analyzer.ProjectHas[finding.Registration](p) {
			for _, library := range libraries[p] {
				p.ShareHealth(library)
			}
		}
	}
	analyzer.GiveHealth(projects, func(p *project) []*project { return libraries[p] })
	analyzer.DropBuilt(projects)
	servers := analyzer.Servers(projects, logf)
	analyzer.SetLanguages(servers, files, languageOf)
	return servers
}

// dropUnmade leaves out the sources of a program that maps services, and of its libraries, with servers of Grpc.Core
// which neither begin the program nor are started by its host: they are what is left of an older server.
func dropUnmade(projects []*project) {
	for _, p := range projects {
		for _, f := range p.Files {
			if s, ok := finding.First[finding.Server](f.Findings); ok && !s.InMain && !f.Built && !f.Extra.isHosted {
				p.Package(f.Path).Findings = nil
			}
		}
	}
}

// app is what the findings in one project have to know about all projects of the app.
type app struct {
	// healthClasses are the names of the classes that implement the health service.
	healthClasses map[string]bool
	// declared are the names of methods and classes of the app's own that are like those of libraries.
	declared map[string]bool
	// surest is the surest evidence of a server in this app.
	surest kind
}

func newApp(projects []*project) app {
	a := app{healthClasses: map[string]bool{libraryHealth: true}, declared: map[string]bool{}}
	for _, p := range projects {
		for f := range p.All() {
			switch f := f.(type) {
			case finding.HealthClass:
				a.healthClasses[f.Class] = true
			case named:
				a.declared[f.name] = a.declared[f.name] || f.kind == declared
			}
		}
	}
	for _, p := range projects {
		for _, in := range p.Packages {
			for _, f := range in.Findings {
				if !in.Built {
					a.surest = max(a.surest, a.evidenceOf(f, p))
				}
			}
		}
	}
	return a
}

// evidenceOf returns as what a finding in a project proves a server, 0 for none. A library may add what another app
// serves, and an AddGrpc of the app's own may be for clients.
func (a app) evidenceOf(f finding.Finding, p *project) kind {
	switch f := f.(type) {
	case finding.Registration, finding.Server:
		return mapped
	case named:
		isForOthers := f.kind == added && (!p.IsProgram || a.declared[addGrpc])
		isHealth := f.kind == mapped && a.healthClasses[f.name]
		if f.kind >= added && !isForOthers && !isHealth {
			return f.kind
		}
	}
	return 0
}

// resolve decides what the names in a project mean in the app.
func (a app) resolve(p *project) {
	framework := aspNetCore
	if has(p, added, codeFirst) {
		framework = codeFirst
	}
	p.Decide(func(_ *analyzer.Package, f finding.Finding) []finding.Finding {
		of, ok := f.(named)
		if !ok {
			return []finding.Finding{f}
		}
		registered := finding.Registration{Site: of.Site, Framework: framework}
		mayBeHealth := finding.MayRegisterHealth(of.Site, "")
		evidence, isOwn := a.evidenceOf(of, p), a.declared[of.name]
		switch {
		case of.kind < healthHelper:
			return []finding.Finding{of}
		case of.kind == healthHelper && isOwn, of.kind == added && evidence == 0, evidence > 0 && evidence < a.surest:
			return nil
		case of.kind == healthHelper:
			return []finding.Finding{mayBeHealth}
		case evidence == 0:
			return []finding.Finding{finding.Health{Site: of.Site, NeedsStatus: of.name == libraryHealth && !isOwn}}
		case of.kind == added:
			registered.Framework = of.name
		case healthNamed.MatchString(of.name) && !isOwn: // of a package that is not in the app
			return []finding.Finding{registered, mayBeHealth}
		}
		return []finding.Finding{registered}
	})
}

// place decides where the server that a project maps services with listens. If the project makes a server of Grpc.Core
// too, the program has both, and the health service that it maps is that of ASP.NET Core's.
func place(p *project, libraries []*project) {
	listening := listening(p, libraries)
	var mapping *finding.Site
	if analyzer.ProjectHas[finding.Server](p) {
		mapping = firstMapping(p)
	}
	p.Decide(func(_ *analyzer.Package, f finding.Finding) []finding.Finding {
		switch of := f.(type) {
		case finding.Registration:
			found := []finding.Finding{of}
			if mapping != nil {
				found[0] = finding.Implementation{Site: of.Site, Framework: of.Framework, Served: true}
			}
			if listening == nil { // the URLs decide that it is given when it starts
				found = append(found, finding.UsesOther(of.Quiet(), ""))
			}
			return found
		case finding.Health:
			if of.Of == nil {
				of.Of = mapping
			}
			return []finding.Finding{of}
		case endpoint:
			return listening[of.Site]
		}
		return []finding.Finding{f}
	})
}

// firstMapping returns where a project first maps a service, nil if it maps none.
func firstMapping(p *project) *finding.Site {
	for f := range p.All() {
		if of, ok := f.(finding.Registration); ok {
			return of.Site
		}
	}
	return nil
}

// listening returns what the endpoints of a project say, by their sites: those that gRPC uses, and none of a program
// whose only server is that of Grpc.Core. It is nil if neither the project nor its libraries say where they listen.
func listening(p *project, libraries []*project) map[*finding.Site][]finding.Finding {
	all := append(slices.Clip(libraries), p)
	if !slices.ContainsFunc(all, analyzer.ProjectHas[endpoint, extra]) &&
		!slices.ContainsFunc(all, analyzer.ProjectHas[finding.Listener, extra]) {
		return nil
	}
	found := map[*finding.Site][]finding.Finding{}
	hasCore := analyzer.ProjectHas[finding.Server](p)
	if hasCore && firstMapping(p) == nil || !hasCore && analyzer.ProjectHas[finding.Listener](p) {
		return found
	}
	isReplaced := slices.ContainsFunc(all, func(p *project) bool { return has(p, replaced, "") })
	for _, e := range endpointsOf(p) {
		site := e.Site
		if e.key != "" && isReplaced {
			e.Site = e.AsUnsure()
		}
		found[site] = e.findings()
	}
	return found
}

// has reports whether a project has a finding of a kind, with a name or, for "", with any.
func has(p *project, k kind, name string) bool {
	for f := range p.All() {
		if of, ok := f.(named); ok && of.kind == k && (name == "" || name == of.name) {
			return true
		}
	}
	return false
}

// maxLibraries is how many libraries are looked at for one project.
const maxLibraries = 64

// librariesOf returns the libraries that each project refers to, directly or through others.
func librariesOf(projects []*project) map[*project][]*project {
	byDir := map[string]*project{}
	for _, p := range projects {
		byDir[p.Dir] = p
	}
	all := map[*project][]*project{}
	for _, p := range projects {
		found := []*project{p}
		for i := 0; i < len(found) && len(found) <= maxLibraries; i++ {
			for _, reference := range found[i].Manifest().project.references {
				library := byDir[path.Join(found[i].Dir, path.Dir(reference))]
				if library != nil && library.Manifest().project.isLibrary && !slices.Contains(found, library) {
					found = append(found, library)
				}
			}
		}
		all[p] = slices.Clip(found[1:])
	}
	return all
}
