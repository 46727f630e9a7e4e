package dotnet

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

type project = analyzer.Project[extra]

// postAnalyze returns a server for each project that maps services, and for each server of Grpc.Core. Test projects
// are left out.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	files = addSettings(files)
	replaceSettings(files)
	bindSettings(files)
	all := analyzer.Projects(files, analyzer.FileIsPackage)
	projects := slices.DeleteFunc(slices.Clone(all), func(p *project) bool { return msbuildOf(p).isTest })
	dropOwnHealth(files, projects)
	dropUnmade(projects)
	a := newApp(projects)
	for _, f := range files {
		if f.Processes != nil {
			a.processes, a.givers = f.Processes, endpointGivers(f.Processes)
		}
	}
	libraries := librariesOf(projects)
	for _, p := range projects {
		p.IsProgram = !msbuildOf(p).isLibrary
		forgetSettings(p, libraries[p])
		prefixVariables(p, libraries[p])
		a.resolve(p, libraries[p])
	}
	shareLibraryHealth(libraries, projects)
	analyzer.GiveHealth(projects, func(p *project) []*project { return libraries[p] })
	analyzer.DropBuilt(projects)
	// A library that has test packages looks like a test, and may declare what programs use.
	servers := analyzer.Servers(projects, logf, all...)
	analyzer.SetLanguages(servers, files, languageOf)
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
	// declared are the names of methods and classes of the app's own that may be about the health service.
	declared map[string]bool
	// ownHealth says that one of healthClasses has the name of the library's.
	ownHealth bool
	// surest is the surest evidence of a server in this app.
	surest evidence
	// namesEndpoints says that sources or settings name an address, or give all of them TLS.
	namesEndpoints bool
	// givers give the URL of a server that names no endpoint, if the app's Procfile does.
	givers    []string
	processes procfile.Processes
}

// dropOwnHealth leaves out what is called a health service and is one of the app's own. That its package is not
// grpc.health.v1 is seen where it is defined alone.
func dropOwnHealth(files []analyzer.File[extra], projects []*project) {
	folders := analyzer.HealthFolders{}
	for _, f := range files {
		folders.Add(f.Path, f.Extra.health)
	}
	for _, p := range projects {
		for _, in := range p.Packages {
			if folders.IsOwn(in.Path) {
				in.Findings = slices.DeleteFunc(in.Findings, isNamedHealth)
			}
		}
	}
}

// isNamedHealth reports whether a finding takes a class for the health service by its name alone.
func isNamedHealth(f finding.Finding) bool {
	of, ok := f.(healthBound)
	return ok && !of.isStandard
}

// evidence is what stands for a server in an app.
type evidence int

const (
	byService evidence = iota // a source maps a service by its name or constructs a server, or nothing does
	byMapping                 // a helper maps any service
	byAdding                  // gRPC is added
)

func newApp(projects []*project) app {
	a := app{healthClasses: map[string]bool{libraryHealth: true}, declared: map[string]bool{}}
	for _, p := range projects {
		for f := range p.All() {
			if f, ok := f.(finding.HealthClass); ok {
				a.healthClasses[f.Class] = true
				a.ownHealth = a.ownHealth || f.Class == libraryHealth
			}
			if f, ok := f.(healthDeclared); ok {
				a.declared[f.name] = true
			}
			a.namesEndpoints = a.namesEndpoints || namesEndpoint(f)
		}
	}
	a.surest = a.surestEvidence(projects)
	return a
}

// namesEndpoint reports whether a finding names an address, or gives all addresses TLS.
func namesEndpoint(f finding.Finding) bool {
	switch f := f.(type) {
	case endpoint, finding.Listener:
		return true
	case kestrelDefaults:
		return f.https.Place.Line > 0
	}
	return false
}

// surestEvidence returns the surest evidence that there is, so that findings that prove less do not count.
func (a app) surestEvidence(projects []*project) evidence {
	var byName, mapsAny, added, defined bool
	for _, p := range projects {
		isLibrary := msbuildOf(p).isLibrary
		for _, in := range p.Packages {
			for _, f := range in.Findings {
				switch f := f.(type) {
				case finding.Registration:
					byName = true
				case finding.Server:
					byName = byName || !in.Built
				case serviceMapped:
					byName = byName || !a.healthClasses[f.class]
				case anyServiceMapped:
					mapsAny = true
				case grpcAdded:
					added = added || !isLibrary // a library may add what another app serves
				case addGrpcDefined:
					defined = true
				}
			}
		}
	}
	switch {
	case byName:
		return byService
	case mapsAny:
		return byMapping
	case added && !defined:
		return byAdding
	}
	return byService
}

// resolve decides what the findings of a project mean in the app. What the libraries that it refers to say of addresses
// may be for it.
func (a app) resolve(p *project, libraries []*project) {
	framework := mappedFramework(p)
	isLibrary := msbuildOf(p).isLibrary
	makesLibraryHealth := analyzer.ProjectHas[libraryHealthMade](p)
	endpoints := endpointsOf(p, a.processes)
	mapping := mappingBeside(p)
	if !isLibrary {
		a.namesEndpoints = slices.ContainsFunc(append(libraries, p), func(of *project) bool {
			return slices.ContainsFunc(slices.Collect(of.All()), namesEndpoint)
		})
	}
	p.Decide(func(_ *analyzer.Package, f finding.Finding) []finding.Finding {
		switch of := f.(type) {
		case serviceMapped:
			if a.healthClasses[of.class] {
				isEmpty := of.class == libraryHealth && !a.ownHealth
				return []finding.Finding{finding.Health{Site: of.Site, Of: mapping, NeedsStatus: isEmpty}}
			}
			found := a.registered(of.Site, framework, mapping != nil)
			if a.mayBeHealth(of.class) {
				found = append(found, finding.Health{Site: of.AsUnsure(), Of: mapping})
			}
			return found
		case healthHelper:
			if a.declared[of.name] {
				return nil
			}
			return []finding.Finding{finding.Health{Site: of.AsUnsure(), Of: mapping}}
		case healthDeclared:
			return nil
		case healthBound:
			needsStatus := makesLibraryHealth && !a.ownHealth
			return []finding.Finding{finding.Health{Site: of.Site, Of: of.server, NeedsStatus: needsStatus}}
		case anyServiceMapped:
			if a.surest == byMapping {
				return a.registered(of.Site, framework, false)
			}
		case grpcAdded:
			if a.surest == byAdding && !isLibrary {
				return a.registered(of.Site, of.framework, false)
			}
		case finding.Registration:
			return a.registered(of.Site, of.Framework, mapping != nil)
		case finding.Health:
			if of.Of == nil {
				of.Of = mapping
			}
			return []finding.Finding{of}
		case endpoint:
			return endpoints[of.Site]
		}
		return []finding.Finding{f}
	})
}

// mappingBeside returns where a project first maps a service, if it makes a server of Grpc.Core too: the program has
// both then, and the health service that it maps is that of ASP.NET Core's. It is nil for any other project.
func mappingBeside(p *project) *finding.Site {
	if !analyzer.ProjectHas[finding.Server](p) {
		return nil
	}
	for f := range p.All() {
		switch of := f.(type) {
		case serviceMapped:
			return of.Site
		case finding.Registration:
			return of.Site
		}
	}
	return nil
}

// registered returns the registration of a service with a framework's server, which is beside another one or not, and
// what decides about the security of that server if no endpoint is named: the URLs that are given to it when it starts.
func (a app) registered(at *finding.Site, framework string, isBeside bool) []finding.Finding {
	found := []finding.Finding{finding.Registration{Site: at, Framework: framework}}
	if isBeside {
		found[0] = finding.Implementation{Site: at, Framework: framework, Served: true}
	}
	if a.namesEndpoints {
		return found
	}
	says := plan.Security{Setting: "$ASPNETCORE_URLS"}
	found = append(found, finding.Security{Site: at.Quiet(), Says: says})
	if a.givers != nil {
		found = append(found, finding.Listener{Site: at.Quiet(), Address: address.Value{Givers: a.givers}})
	}
	return found
}

// endpointURL is the URL of an endpoint of Kestrel's, as an argument or as an environment variable.
var endpointURL = lazyregexp.New(`^(?:--|\$)(?i:Kestrel(?::|__)Endpoints(?::|__)\w+?(?::|__)Url)$`)

// endpointGivers returns what gives an endpoint that neither sources nor settings name, if processes do: the URL of one
// endpoint, or else the URLs of the server. Of several endpoints it is not known which one is that of gRPC.
func endpointGivers(ps procfile.Processes) []string {
	var all, endpoints []string
	for _, flag := range ps.Flags() {
		all = append(all, address.FlagGiver(flag))
	}
	for _, variable := range ps.Variables() {
		all = append(all, address.VariableGiver(variable))
	}
	for _, giver := range all {
		if endpointURL.MatchString(giver) {
			endpoints = append(endpoints, giver)
		}
	}
	if len(endpoints) > 0 {
		if len(endpoints) > 1 {
			endpoints = nil
		}
		return endpoints
	}
	isMissing := func(giver string) bool { return !slices.Contains(all, giver) }
	return slices.DeleteFunc(slices.Clone(defaultGivers), isMissing)
}

// endpointsOf returns what the endpoints of a project say, by their sites: those that gRPC uses, and none of a program
// whose only server is that of Grpc.Core.
func endpointsOf(p *project, ps procfile.Processes) map[*finding.Site][]finding.Finding {
	hasCore := analyzer.ProjectHas[finding.Server](p)
	if hasCore && !mapsServices(p) || !hasCore && analyzer.ProjectHas[finding.Listener](p) {
		return nil
	}
	var all []endpoint
	var defaults []kestrelDefaults
	for f := range p.All() {
		switch f := f.(type) {
		case endpoint:
			all = append(all, f)
		case kestrelDefaults:
			defaults = append(defaults, f)
		}
	}
	found := map[*finding.Site][]finding.Finding{}
	for _, e := range forGRPC(settled(all), defaults) {
		if transport, ok := givenTransport(e, ps); ok && transport != e.security.Transport {
			e.security = plan.Security{}
		}
		found[e.Site] = e.findings()
	}
	return found
}

// givenTransport returns what the scheme of the URL says that processes give an endpoint, and whether they give one
// with a scheme.
func givenTransport(e endpoint, ps procfile.Processes) (plan.Transport, bool) {
	for _, giver := range e.address.Givers {
		v, ok := ps.Flag(strings.TrimPrefix(giver, "--"))
		if !ok {
			v, ok = ps.Variable(strings.TrimPrefix(giver, "$"))
		}
		if ok {
			says := schemeSecurity(v.Text).Transport
			return says, says != ""
		}
	}
	return "", false
}

// mappedFramework returns the framework whose services MapGrpcService maps in a project.
func mappedFramework(p *project) string {
	for f := range p.All() {
		if f, ok := f.(grpcAdded); ok && f.framework == codeFirst {
			return codeFirst
		}
	}
	return aspNetCore
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
			for _, reference := range msbuildOf(found[i]).references {
				library := byDir[path.Join(found[i].Dir, path.Dir(reference))]
				if library != nil && msbuildOf(library).isLibrary && !slices.Contains(found, library) {
					found = append(found, library)
				}
			}
		}
		all[p] = slices.Clip(found[1:])
	}
	return all
}

// shareLibraryHealth gives each project with a server the health service that a library registers for the programs
// which refer to it, as the ServiceDefaults of .NET Aspire do. The finding comes without its excerpt: it is logged
// where it is.
func shareLibraryHealth(libraries map[*project][]*project, projects []*project) {
	for _, p := range projects {
		if !analyzer.ProjectHas[finding.Registration](p) {
			continue
		}
		for _, library := range libraries[p] {
			shared := &analyzer.Package{Path: "libraries"}
			for f := range library.All() {
				switch of := f.(type) {
				case finding.Health:
					f = finding.Health{Site: of.Quiet(), NeedsStatus: of.NeedsStatus}
				case finding.HealthStatus:
				default:
					continue
				}
				shared.Findings = append(shared.Findings, f)
			}
			p.Packages = append(p.Packages, shared)
		}
	}
}
