package golang

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// postAnalyze returns a server for each package that makes a server.
func postAnalyze(files []analyzer.File[Extra], logf tree.Logf) []plan.Server {
	lookup := lookupIn(files)
	leaveOutTestHelpers(files, lookup)
	leaveOutOtherHealth(files, lookup)
	byProgram := followValues(files, lookup)
	for i := range files {
		files[i].Processes = nil // what they give is in the findings
	}
	all := analyzer.Projects(files, packageOf)
	w := newWorkspace(all, lookup)
	for _, p := range all {
		w.resolve(p)
		dropHealthChecks(p)
	}
	w.shareHealth(all)
	w.borrowServers(all)
	for _, p := range all {
		w.joinPrograms(p)
		w.borrowHealth(p)
	}
	all = setExamplesAside(all)
	if !slices.ContainsFunc(all, serves) {
		implyServers(all)
	}
	servers := analyzer.Servers(all, logf)
	w.namePrograms(servers)
	giveAddresses(servers, byProgram)
	return servers
}

func serves(p *project) bool { return slices.ContainsFunc(p.Packages, (*analyzer.Package).Serves) }

// packageOf returns the package that a file belongs to. Settings in a directory etc belong to the package whose
// directory holds etc. A built program is a package of its own.
func packageOf(file string) string {
	if path.Base(path.Dir(file)) == "etc" && slices.Contains(settingsEndings, path.Ext(file)) {
		return path.Dir(path.Dir(file))
	}
	if strings.HasSuffix(file, ".go") {
		return path.Dir(file)
	}
	return file
}

// resolve decides what the findings are that mean something only together with others of their module.
func (w workspace) resolve(p *project) {
	w.leaveOutUnused(p)
	m := module{workspace: w}
	m.servesPlain = analyzer.ProjectHas[finding.Server](p) || analyzer.ProjectHas[registration](p)
	w.resolveConnect(p)
	for _, in := range p.Packages {
		for r := range finding.All[kitexRegistration](in.Findings) {
			m.registersKitex = m.registersKitex || w.isProtobufKitex(r.pkg)
		}
	}
	m.noGRPC = lacksGRPC(p)
	m.hasOldGoZero = slices.ContainsFunc(p.Files, func(f analyzer.File[Extra]) bool {
		return f.Extra.ModulePath != "" && !f.Extra.GoZeroHealth
	})
	m.handled, m.toldApart = listenersOf(p)
	m.yokai, m.gofr, m.dubbo = newYokaiSays(p), newGofrSays(p), newDubboSays(p)
	for _, in := range p.Packages {
		w.tellApart(in)
	}
	p.Decide(m.decide)
	for _, in := range p.Packages {
		in.Findings = withoutSockets(in.Findings)
		in.Findings = finding.InMain(in.Findings, func(s finding.Server) bool { return w.mainFiles[s.Path] })
	}
}

// module is what decides about the findings of one module.
type module struct {
	workspace
	servesPlain          bool // a server of its own, or a registration, that is not connect's alone
	registersKitex       bool
	noGRPC, hasOldGoZero bool                       // what its go.mod says
	handled, toldApart   map[*analyzer.Package]bool // see listenersOf
	yokai                yokaiSays
	gofr                 gofrSays
	dubbo                dubboSays
}

// decide returns what a finding is in the module.
func (m module) decide(in *analyzer.Package, f finding.Finding) []finding.Finding {
	decided, keep := f, true
	switch f := f.(type) {
	case finding.Server:
		switch f.Framework {
		case gofr:
			return m.gofr.of(f)
		case dubboGo:
			return m.dubbo.of(in, f)
		}
		f.AutomaticHealth = f.AutomaticHealth && !(f.Framework == goZero && m.hasOldGoZero)
		decided = f
	case dubboDescribed:
		return m.dubbo.described(in, f)
	case gofrSetting, gofrSecured, dubboSpoken, dubboSecured, dubboLoaded, dubboHealthy, dubboStated:
		keep = false
	case registration:
		decided, keep = finding.Registration{Site: f.Site, Framework: grpcGo}, m.isRegistration(f)
		if _, isOwn := m.lookup(f.kratosBy); keep && f.kratosBy != "" && !isOwn {
			return madeByOthers(f.Site, kratos)
		}
	case kitexServer:
		decided, keep = finding.Server{Site: f.Site, Framework: kitex}, m.isProtobufKitex(f.pkg)
	case kitexBareServer:
		decided, keep = finding.Server{Site: f.Site, Framework: kitex}, m.registersKitex
	case kitexRegistration:
		decided, keep = finding.Registration{Site: f.Site, Framework: kitex}, m.isProtobufKitex(f.pkg)
	case finding.Listener: // of the settings
		keep = f.Of != nil || !m.toldApart[in]
	case listener:
		decided, keep = f.finding(), m.isListener(in, f)
	case yokaiServer:
		return m.yokai.of(f)
	case servedTLS:
		decided, keep = finding.Security{Site: f.Site, Says: f.says}, m.servesOverTLS(in)
	}
	if !keep {
		return nil
	}
	return []finding.Finding{decided}
}

// madeByOthers returns the server of a framework that a function of another module makes, which decides on TLS.
func madeByOthers(at *finding.Site, framework string) []finding.Finding {
	return []finding.Finding{
		finding.Server{Site: at, Framework: framework, AutomaticHealth: true},
		finding.Security{Site: at.Quiet(), Says: plan.Security{Place: at.Place}},
	}
}

// lacksGRPC reports whether the go.mod of a project, which lists the dependencies of its dependencies too, has no
// grpc-go.
func lacksGRPC(p *project) bool {
	return slices.ContainsFunc(p.Files, func(f analyzer.File[Extra]) bool {
		return f.Extra.ModulePath != "" && !f.Extra.RequiresGRPC
	})
}

// isRegistration reports whether a RegisterXServer is generated from protobuf. A function of the app's own with such a
// name is none, nor is a function of others in a module that does not depend on grpc-go.
func (m module) isRegistration(r registration) bool {
	if dir, ok := m.lookup(r.pkg); ok {
		return m.protos[dir]
	}
	return !m.noGRPC
}

// isProtobufKitex reports whether the package of a server of Kitex is generated from protobuf and not from Thrift: the
// directory above that of the server then holds code of protoc-gen-go.
func (w workspace) isProtobufKitex(pkg string) bool {
	dir, ok := w.lookup(path.Dir(pkg))
	return ok && w.protos[dir]
}

// joinPrograms takes the programs that are built from sources of the app that serve. They are no services of their own,
// but join the module of their sources: a program may have a health registration from a helper outside of the app.
func (w workspace) joinPrograms(p *project) {
	for _, f := range p.Files {
		if f.Extra.MainPackage == "" {
			continue
		}
		module := w.moduleOf(f.Extra.MainPackage)
		if module == nil || !slices.ContainsFunc(module.Packages, servesFromSource) {
			continue
		}
		program := p.Package(f.Path)
		program.Findings = slices.DeleteFunc(program.Findings, finding.Is[finding.Server])
		if module != p {
			module.Packages = append(module.Packages, program)
		}
	}
}

func servesFromSource(in *analyzer.Package) bool { return !in.Built && in.Serves() }

// implyServers adds a server for each that the health service is registered with. It is for apps that have no other
// evidence of a server: a framework that this package does not know makes it.
func implyServers(all []*project) {
	for _, p := range all {
		p.Decide(func(_ *analyzer.Package, f finding.Finding) []finding.Finding {
			if given, ok := f.(healthGiven); ok {
				f = finding.Registration{Site: given.Site, Framework: grpcGo}
			}
			return []finding.Finding{f}
		})
	}
}
