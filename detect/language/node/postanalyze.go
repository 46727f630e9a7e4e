package node

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

type project = analyzer.Project[extra]

// postAnalyze returns a server for each file that makes a server.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	onCondition := slices.ContainsFunc(files, func(f analyzer.File[extra]) bool { return f.Extra.loadsOnCondition })
	files = analyzer.DropUnread(files, func(f analyzer.File[extra]) bool {
		return f.Extra.manifest.loadsEnvironment && !onCondition
	})
	analyzer.ReplaceEnvironment(files, func(f analyzer.File[extra]) bool { return f.Extra.replacesEnvironment })
	all := analyzer.Projects(files, analyzer.FileIsPackage)
	packages := packagesOf(all)
	folders := analyzer.HealthFoldersOf(files)
	for _, p := range all {
		p.Drop(func(f finding.Finding) bool { return mayBeHealth(f) && folders.IsOwn(finding.Where(f).Path) })
		decide(p)
	}
	packages.moveServers(all)
	analyzer.GiveHealth(all, packages.usedBy)
	dropLibraries(all, packages)
	analyzer.DropBuilt(all)
	servers := analyzer.Servers(all, logf)
	analyzer.SetLanguages(servers, files, languageOf)
	return servers
}

// packages are the projects of an app by the names for imports.
type packages map[string]*project

func packagesOf(all []*project) packages {
	byName := packages{}
	for _, p := range all {
		if name := p.Manifest().manifest.name; name != "" {
			byName[name] = p
		}
	}
	return byName
}

// usedBy returns the projects that the package of p depends on.
func (all packages) usedBy(p *project) []*project {
	var used []*project
	for _, name := range p.Manifest().manifest.uses {
		if q := all[name]; q != nil && q != p {
			used = append(used, q)
		}
	}
	return used
}

// moveServers leaves out the servers of a project whose users give the addresses, and moves its registrations to the
// users. Other projects may register health services for servers of their users.
func (all packages) moveServers(projects []*project) {
	var makers []*project
	for _, p := range projects {
		binds := analyzer.ProjectHas[finding.Listener](p) && !analyzer.ProjectHas[finding.Server](p)
		for _, q := range all.usedBy(p) {
			isServer := analyzer.ProjectHas[finding.Server](q)
			switch {
			case isServer && binds && !analyzer.ProjectHas[finding.Listener](q):
				makers = append(makers, q)
				p.ShareHealth(q)
			case !isServer && analyzer.ProjectHas[finding.HealthElsewhere](p):
				p.ShareHealth(q)
			}
		}
	}
	for _, p := range makers {
		p.Drop(finding.Is[finding.Server])
	}
}

// dropLibraries leaves out the findings of a package for others if no package of the app imports it, no script starts
// it, and none of its modules calls anything when loaded: nobody starts its server.
func dropLibraries(all []*project, named packages) {
	used := map[*project]bool{}
	for _, p := range all {
		for _, q := range named.usedBy(p) {
			used[q] = true
		}
	}
	isRun := func(f analyzer.File[extra]) bool { return f.Extra.runs || f.Built }
	for _, p := range all {
		if p.Manifest().manifest.isExported && !used[p] && !slices.ContainsFunc(p.Files, isRun) {
			p.Drop(func(finding.Finding) bool { return true })
		}
	}
}

// mayBeHealth reports whether a finding is a health service by name. A service of the app may have the same name.
func mayBeHealth(f finding.Finding) bool {
	return finding.Is[finding.Health](f) || finding.Is[healthController](f) || finding.Is[namedHealth](f)
}

// decide decides the findings that depend on other findings of the project. Handlers of Connect serve gRPC only over
// HTTP/2.
func decide(p *project) {
	hasHandlers := analyzer.ProjectHas[connectHandler](p)
	serves := map[string]bool{connectNode: hasHandlers && analyzer.ProjectHas[http2Server](p)}
	for f := range p.All() {
		serves[finding.FrameworkOf(f)] = true
	}
	nest := microservicesOf(p)
	servesOthers := analyzer.ProjectHas[otherPackages](p) && !analyzer.ProjectHas[finding.Health](p)
	listsServices := analyzer.ProjectHas[listedService](p) && !analyzer.ProjectHas[finding.Health](p)
	p.Decide(func(in *analyzer.Package, f finding.Finding) []finding.Finding {
		switch f := f.(type) {
		case finding.Implementation: // the options of a microservice made elsewhere are not seen
			if f.Framework == nestJS && len(nest.servers)+len(nest.options) == 0 {
				return []finding.Finding{f, finding.UsesOther(f.Quiet(), "")}
			}
			return []finding.Finding{f}
		case http2Server:
			return keptIf(hasHandlers, finding.Server{Site: f.Site, Framework: connectNode})
		case connectHandler:
			return keptIf(serves[connectNode], finding.Registration{Site: f.Site, Framework: connectNode})
		case onlyFor:
			finding.Locate([]finding.Finding{f.says}, in.Path)
			return keptIf(serves[f.framework], f.says)
		case nestServer:
			return nest.decide(f)
		case namedHealth:
			return keptIf(listsServices, finding.MayRegisterHealth(f.Site, ""))
		case healthHelper:
			if f.IsUnsure() {
				return []finding.Finding{finding.Health{Site: f.Site}}
			}
			return keptIf(!f.isOwn, finding.HealthElsewhere{Site: f.Site})
		case healthController:
			return keptIf(!servesOthers, finding.Health{Site: f.Site})
		case otherPackages, listedService, nestOptions:
			return nil
		}
		return []finding.Finding{f}
	})
}

func keptIf(holds bool, f finding.Finding) []finding.Finding {
	if !holds {
		return nil
	}
	return []finding.Finding{f}
}

// microservices are the options of NestJS in a project, and the innermost directories of servers around options or
// controllers for gRPC.
type microservices struct {
	servers analyzer.ServerCount
	options []nestOptions
	grpc    map[string]bool
}

func microservicesOf(p *project) *microservices {
	m := &microservices{servers: analyzer.ServerCount{}, grpc: map[string]bool{}}
	isServer := func(f finding.Finding) bool {
		return finding.Is[nestServer](f) || finding.Is[finding.Server](f) && finding.FrameworkOf(f) == nestJS
	}
	for f := range p.All() {
		if isServer(f) {
			m.servers.Add(finding.Where(f).Path)
		}
	}
	for f := range p.All() {
		options, ok := f.(nestOptions)
		if ok {
			m.options = append(m.options, options)
		}
		if options.isGRPC || !isServer(f) && finding.FrameworkOf(f) == nestJS {
			m.grpc[m.servers.Innermost(finding.Where(f).Path)] = true
		}
	}
	return m
}

// decide returns the server of a microservice with options outside of its call, if the options serve gRPC. The options
// have the name in the call. Without options of that name, any options around the call count, and may have TLS.
func (m *microservices) decide(f nestServer) []finding.Finding {
	server := finding.Server{Site: f.Site, Framework: nestJS}
	isNamed := func(o nestOptions) bool { return o.name == f.name }
	if slices.ContainsFunc(m.options, isNamed) {
		serves := func(o nestOptions) bool { return isNamed(o) && o.isGRPC }
		return keptIf(slices.ContainsFunc(m.options, serves), server)
	}
	for dir := range tree.Ancestors(f.Path) {
		if m.grpc[dir] {
			return []finding.Finding{server, finding.UsesOther(f.Quiet(), "")}
		}
	}
	return nil
}
