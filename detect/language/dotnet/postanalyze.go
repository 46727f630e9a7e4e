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

// postAnalyze returns a server for each project that maps services, and for each server of Grpc.Core. Test projects are
// left out.
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
	for _, p := range projects { // as with the ServiceDefaults of .NET Aspire
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

// dropUnmade leaves out sources with servers of Grpc.Core in a program that maps services, and in its libraries, unless
// a source begins the program or the host starts the server: the rest are remains of an older server.
func dropUnmade(projects []*project) {
	for _, p := range projects {
		for _, f := range p.Files {
			if s, ok := finding.First[finding.Server](f.Findings); ok && !s.InMain && !f.Built && !f.Extra.isHosted {
				p.Package(f.Path).Findings = nil
			}
		}
	}
}

// app is the knowledge about all projects of the app that the findings of a project need.
type app struct {
	// healthClasses are the names of the classes that implement the health service.
	healthClasses map[string]bool
	// declared are the names of the app's methods and classes that resemble names of libraries.
	declared map[string]bool
	// surest is the surest evidence of a server in the app.
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

// evidenceOf returns the kind of evidence that a finding in a project is for a server, 0 for none. A library may add
// services that another app serves, and an AddGrpc of the app may be for clients.
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

// resolve decides the meaning in the app of the names in a project.
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
			health := finding.Health{Site: of.Site, NeedsStatus: of.name == libraryHealth && !isOwn}
			if a.surest == 0 { // the app finds its other services when it starts
				return []finding.Finding{registered, health}
			}
			return []finding.Finding{health}
		case of.kind == added:
			registered.Framework = of.name
		case healthNamed.MatchString(of.name) && !isOwn: // of a package outside of the app
			return []finding.Finding{registered, mayBeHealth}
		}
		return []finding.Finding{registered}
	})
}

// place adds the listeners of the server that a project maps services with. If the project makes a server of Grpc.Core
// too, the program has both, and the mapped health service belongs to ASP.NET Core's server.
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
			if listening == nil { // URLs given at the start decide
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

// firstMapping returns the site of the first service that a project maps, nil for none.
func firstMapping(p *project) *finding.Site {
	for f := range p.All() {
		if of, ok := f.(finding.Registration); ok {
			return of.Site
		}
	}
	return nil
}

// listening returns the findings of a project's endpoints for gRPC, by site, and none for a program with servers of
// Grpc.Core only. The map is nil if neither the project nor its libraries name an endpoint or a listener.
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

// has reports whether a project has a finding of a kind and name, with any name for "".
func has(p *project, k kind, name string) bool {
	for f := range p.All() {
		if of, ok := f.(named); ok && of.kind == k && (name == "" || name == of.name) {
			return true
		}
	}
	return false
}

// maxLibraries is how many libraries of a project are read.
const maxLibraries = 64

// librariesOf returns the libraries that each project refers to, directly or through other libraries.
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
