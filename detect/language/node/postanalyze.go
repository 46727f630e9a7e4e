package node

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

type project = analyzer.Project[extra]

// postAnalyze returns a server for each file that makes a server.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	onCondition := slices.ContainsFunc(files, func(f analyzer.File[extra]) bool { return f.Extra.loadsOnCondition })
	files = analyzer.DropUnread(files, func(f analyzer.File[extra]) bool {
		return f.Extra.loadsEnvironment && !onCondition
	})
	analyzer.ReplaceEnvironment(files, func(f analyzer.File[extra]) bool { return f.Extra.replacesEnvironment })
	all := analyzer.Projects(files, analyzer.FileIsPackage)
	found, makers := newModules(files), analyzer.MakersOf(all)
	makersFor := func(p *project) []*project { return found.makersFor(p, makers) }
	all = analyzer.Join(all, isPlain, makersFor)
	a := &app{modules: found, packages: map[string]*analyzer.Package{}, graph: analyzer.Graph(all)}
	a.graph.Module, a.entries = a.find, a.entryFiles()
	for _, p := range all {
		for _, in := range p.Packages {
			a.packages[in.Path] = in
		}
	}
	a.dropOwnHealth(files)
	a.moveListeners()
	for _, p := range all {
		a.decide(p, all)
	}
	a.moveServers(all)
	analyzer.GiveHealth(all, makersFor)
	dropLibraries(all)
	analyzer.DropBuilt(all)
	servers := analyzer.ServersIn(a.graph, all, logf)
	analyzer.SetLanguages(servers, files, languageOf)
	return servers
}

// app is what the files of an app say together.
type app struct {
	*modules
	packages map[string]*analyzer.Package // by the paths of their files
	graph    *address.Graph
	entries  map[string]bool
}

// dropOwnHealth leaves out what is called a health service and is one of the app's own. That its package is not
// grpc.health.v1 is seen where it is defined alone.
func (a *app) dropOwnHealth(files []analyzer.File[extra]) {
	folders := analyzer.HealthFolders{}
	for _, f := range files {
		folders.Add(f.Path, f.Extra.health)
	}
	for _, in := range a.packages {
		if !folders.IsOwn(in.Path) {
			continue
		}
		in.Findings = slices.DeleteFunc(in.Findings, func(f finding.Finding) bool {
			switch f.(type) {
			case finding.Health, healthController, namedHealth:
				return true
			}
			return false
		})
	}
}

// moveListeners adds the listeners on which a module makes the server of another one listen to that server's.
func (a *app) moveListeners() {
	for _, f := range a.all {
		for l := range finding.All[importedListener](f.Findings) {
			of := a.packages[a.find(f.Path, l.module)]
			switch {
			case of == nil:
			case l.method == "listen" && (handlesConnect(of) || servesHTTP2(of)):
				of.Findings = append(of.Findings, httpListener{l.Listener})
			case listeningMethod(of.Findings) == l.method: // unlike an HTTP server
				of.Findings = append(of.Findings, l.Listener)
			}
		}
	}
}

// moveServers leaves out the servers that a project makes for others, which give them their addresses, and moves what
// it registers with them there.
func (a *app) moveServers(all []*project) {
	makers := map[*project]bool{}
	for _, p := range all {
		for _, in := range p.Packages {
			f, ok := finding.First[importedServer](in.Findings)
			if !ok {
				continue
			}
			in.Findings = slices.DeleteFunc(in.Findings, finding.Is[importedServer])
			maker := makerOf(all, a.find(in.Path, f.module))
			if maker == nil || maker == p || finding.Has[finding.Server](in.Findings) {
				continue
			}
			makers[maker] = true
			for found := range maker.All() {
				switch of := found.(type) {
				case finding.Health:
					of.Of = nil
					in.Findings = append(in.Findings, of)
				case finding.HealthStatus:
					in.Findings = append(in.Findings, of)
				}
			}
		}
	}
	for p := range makers {
		p.Drop(finding.Is[finding.Server])
	}
}

// makerOf returns the project of a file, if it makes servers and gives none of them an address; nil for another one.
func makerOf(all []*project, file string) *project {
	for _, p := range all {
		if p.Package(file) == nil {
			continue
		}
		if analyzer.ProjectHas[finding.Server](p) && !analyzer.ProjectHas[finding.Listener](p) {
			return p
		}
	}
	return nil
}

// decide decides the findings that depend on others of the project. Handlers of Connect serve gRPC if HTTP/2 is served.
// A microservice of NestJS whose options are in another file serves gRPC if these say so. If it is not known which file
// has them, it is enough that there are options or controllers for gRPC.
func (a *app) decide(p *project, all []*project) {
	http2 := scopeOf(p, servesHTTP2, handlesConnect)
	nest := a.microservicesOf(p)
	mounted := mountedHandlers(p)
	servesOthers := analyzer.ProjectHas[otherPackages](p) && !analyzer.ProjectHas[finding.Health](p)
	listsServices := analyzer.ProjectHas[listedService](p)
	sharesHealth := slices.ContainsFunc(p.Packages, func(in *analyzer.Package) bool {
		return finding.Has[finding.Health](in.Findings) && !finding.Has[finding.Server](in.Findings)
	})
	isMidway := slices.ContainsFunc(slices.Collect(p.All()), func(f finding.Finding) bool {
		return finding.FrameworkOf(f) == midway
	})
	p.Decide(func(in *analyzer.Package, f finding.Finding) []finding.Finding {
		inMain := a.entries[in.Path]
		switch f := f.(type) {
		case finding.Server:
			f.InMain = inMain
			return []finding.Finding{f}
		case connectHandler:
			if !http2.contains(in.Path) {
				return nil
			}
			if mounted[in.Path] {
				return []finding.Finding{finding.Registration{Site: f.Site, Framework: connectNode}}
			}
			return []finding.Finding{finding.Server{Site: f.Site, Framework: connectNode, InMain: inMain}}
		case nestServer:
			return nest.decide(in.Path, f, inMain)
		case finding.Implementation:
			if f.Framework == nestJS && !nest.areMade {
				return []finding.Finding{f, finding.Security{Site: f.Site.Quiet()}}
			}
			return []finding.Finding{f}
		case httpListener:
			return keptIf(http2.contains(in.Path), f.Listener)
		case httpSecurity:
			return keptIf(http2.contains(in.Path), f.Security)
		case midwaySetting:
			finding.Locate([]finding.Finding{f.says}, in.Path)
			return keptIf(isMidway, f.says)
		case otherPackages:
			return nil
		case namedHealth:
			return keptIf(listsServices && !sharesHealth, finding.MayRegisterHealth(f.Site, ""))
		case listedService:
			return nil
		case analyzer.HealthHelper:
			if strings.HasPrefix(f.Module, ".") {
				return analyzer.DecideOwnHelper(f)
			}
			return analyzer.DecideHelper(all, p, f, a.find(in.Path, f.Module))
		case addedHealth:
			return keptIf(!sharesHealth, finding.MayRegisterHealth(f.Site, ""))
		case healthController:
			return keptIf(!servesOthers, finding.Health{Site: f.Site})
		}
		return []finding.Finding{f}
	})
}

// keptIf returns a finding if a condition holds.
func keptIf(holds bool, f finding.Finding) []finding.Finding {
	if !holds {
		return nil
	}
	return []finding.Finding{f}
}

// microservices is what is known of the microservices of NestJS of a project.
type microservices struct {
	*app
	project *project
	options map[nestServer]nestOptions
	// grpc is where there are options or controllers for gRPC, and seen where there are options.
	grpc, seen scope
	areMade    bool // by the project itself
}

func (a *app) microservicesOf(p *project) *microservices {
	return &microservices{
		app: a, project: p, options: a.optionsOf(p),
		grpc: scopeOf(p, hasNestGRPC, servesNest), seen: scopeOf(p, hasNestOptions, servesNest),
		areMade: slices.ContainsFunc(p.Packages, func(in *analyzer.Package) bool {
			return finding.Has[nestServer](in.Findings) || hasNestOptions(in)
		}),
	}
}

// decide returns the server that a microservice is whose options are not written in its call, if it serves gRPC. It may
// have TLS if these are not seen.
func (m *microservices) decide(path string, f nestServer, inMain bool) []finding.Finding {
	o, isKnown := m.options[f]
	if isKnown && !o.isGRPC || !isKnown && !m.grpc.contains(path) {
		return nil
	}
	found := append(m.listenerOf(m.project, f), finding.Server{Site: f.Site, Framework: nestJS, InMain: inMain})
	if !isKnown && !m.seen.contains(path) {
		found = append(found, finding.Security{Site: f.Site.Quiet()})
	}
	return found
}

// listenerOf returns the listener that the options of a microservice state by name, if they do.
func (a *app) listenerOf(p *project, f nestServer) []finding.Finding {
	if f.options == "" {
		return nil
	}
	url := address.Name{Module: f.module, Path: f.options + ".options.url"}
	v := address.Value{Names: []address.Name{url}}
	if v.Address = a.graph.Resolve(v, address.Asker{Project: p.Dir, File: f.Path}); v.Local() == 0 {
		return nil
	}
	return []finding.Finding{finding.ListenerAt(address.Value{Address: v.Address})}
}

// optionsOf returns the options of the microservices of a project, if it is known which they have.
func (a *app) optionsOf(p *project) map[nestServer]nestOptions {
	found := map[nestServer]nestOptions{}
	for f := range p.All() {
		if server, ok := f.(nestServer); ok && server.module != "" {
			if options, ok := a.nestOptions(a.find(server.Path, server.module), server.options); ok {
				found[server] = options
			}
		}
	}
	return found
}

// maxImports is how many modules are followed to options, and how many a module exports again.
const maxImports = 8

// nestOptions returns the options of microservices that a name of a file means. If the file has none of this name, they
// are its first ones for gRPC, or others that it has, or those of a module that it exports as its own.
func (a *app) nestOptions(file, name string) (nestOptions, bool) {
	for range maxImports {
		f := a.byPath[file]
		if f == nil {
			break
		}
		var last *nestOptions
		for o := range finding.All[nestOptions](f.Findings) {
			if o.name == name || o.name != "" && strings.HasSuffix(name, "."+o.name) {
				return o, true
			}
			if last == nil || !last.isGRPC {
				last = &o
			}
		}
		if last != nil {
			return *last, true
		}
		file = a.reexported(f)
	}
	return nestOptions{}, false
}

// reexported returns the first module whose names a file exports as its own and that has options of microservices.
func (a *app) reexported(file *analyzer.File[extra]) string {
	for _, d := range file.Declares {
		for _, n := range d.Names {
			of := a.byPath[a.find(file.Path, n.Module)]
			if d.Name == "" && n.Path == "" && of != nil && finding.Has[nestOptions](of.Findings) {
				return of.Path
			}
		}
	}
	return ""
}

// mountedHandlers returns the files whose handlers of Connect belong to the server of another file. Where one file
// below a directory serves HTTP/2, all handlers below it are mounted there, and one of them stands for the server: its
// own, or else the first.
func mountedHandlers(p *project) map[string]bool {
	servers := analyzer.ServerCount{}
	own := map[string]bool{}
	for _, in := range p.Packages {
		if finding.Has[http2Server](in.Findings) {
			servers.Add(in.Path)
			for dir := range tree.Ancestors(in.Path) {
				own[dir] = own[dir] || finding.Has[connectHandler](in.Findings)
			}
		}
	}
	mounted := map[string]bool{}
	for _, in := range p.Packages {
		if !finding.Has[connectHandler](in.Findings) || finding.Has[http2Server](in.Findings) {
			continue
		}
		if dir := servers.Innermost(in.Path); servers[dir] == 1 {
			mounted[in.Path] = own[dir]
			own[dir] = true
		}
	}
	return mounted
}

func servesHTTP2(in *analyzer.Package) bool { return finding.Has[http2Server](in.Findings) }

func handlesConnect(in *analyzer.Package) bool { return finding.Has[connectHandler](in.Findings) }

// hasNestGRPC reports whether a file has options of NestJS for gRPC, or implements a service for it.
func hasNestGRPC(in *analyzer.Package) bool {
	return slices.ContainsFunc(in.Findings, func(f finding.Finding) bool {
		options, _ := f.(nestOptions)
		_, isServer := f.(finding.Server)
		return options.isGRPC || !isServer && finding.FrameworkOf(f) == nestJS
	})
}

// hasNestOptions reports whether a file has options of NestJS for gRPC, with or without the call that takes them. If
// none are seen, it is not known whether a server of NestJS has TLS.
func hasNestOptions(in *analyzer.Package) bool {
	return slices.ContainsFunc(in.Findings, func(f finding.Finding) bool {
		options, _ := f.(nestOptions)
		return options.isGRPC || finding.Is[finding.Server](f) && finding.FrameworkOf(f) == nestJS
	})
}

func servesNest(in *analyzer.Package) bool {
	return finding.Has[finding.Server](in.Findings) || finding.Has[nestServer](in.Findings)
}

// scope is a set of directories.
type scope map[string]bool

// scopeOf returns the directories that evidence is about. In a monorepo that is the app that it lies in: the innermost
// directory around it that holds a server.
func scopeOf(p *project, isEvidence, serves func(in *analyzer.Package) bool) scope {
	count, dirs := analyzer.ServerCount{}, scope{}
	for _, in := range p.Packages {
		if serves(in) {
			count.Add(in.Path)
		}
	}
	for _, in := range p.Packages {
		if isEvidence(in) {
			dirs[count.Innermost(in.Path)] = true
		}
	}
	return dirs
}

// contains reports whether a file lies below one of the directories.
func (s scope) contains(file string) bool {
	for dir := range tree.Ancestors(file) {
		if s[dir] {
			return true
		}
	}
	return false
}
