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
	leaveOutOtherHealth(files, lookup)
	all := analyzer.Projects(files, packageOf)
	w := newWorkspace(all, lookup)
	for _, p := range all {
		w.resolve(p)
	}
	w.share(all)
	for _, p := range all {
		w.joinPrograms(p)
		addDefaultListeners(p)
	}
	if !slices.ContainsFunc(all, serves) {
		implyServers(all)
	}
	servers := analyzer.Servers(all, logf)
	w.namePrograms(servers)
	return servers
}

func serves(p *project) bool { return slices.ContainsFunc(p.Packages, (*analyzer.Package).Serves) }

// addDefaultListeners adds the default ports of frameworks to packages that state none, if no settings do.
func addDefaultListeners(p *project) {
	for _, in := range p.Packages {
		if !finding.Has[finding.Server](in.Findings) && finding.Has[finding.Listener](in.Findings) {
			return
		}
	}
	for _, in := range p.Packages {
		s, ok := finding.First[finding.Server](in.Findings)
		if !ok || finding.Has[finding.Listener](in.Findings) {
			continue
		}
		if l := analyzer.DefaultListener(frameworks, s.Framework, s.Line); l != nil {
			finding.Locate(l, s.Path)
			in.Findings = append(in.Findings, l...)
		}
	}
}

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

// resolve decides the findings whose meaning depends on the rest of the module.
func (w workspace) resolve(p *project) {
	w.leaveOutUnused(p)
	m := module{workspace: w}
	w.resolveConnect(p)
	for f := range p.All() {
		r, _ := f.(ofPackage)
		m.registersKitex = m.registersKitex || r.kind == kitexRegistration && w.isProtobufKitex(r.pkg)
	}
	for _, f := range p.Files {
		isModule := f.Extra.ModulePath != ""
		m.noGRPC = m.noGRPC || isModule && !f.Extra.RequiresGRPC
		m.hasOldGoZero = m.hasOldGoZero || isModule && !f.Extra.GoZeroHealth
		m.describesTriple = m.describesTriple || f.Extra.DubboTriple
	}
	p.Decide(m.decide)
	if slices.ContainsFunc(p.Files, func(f analyzer.File[Extra]) bool {
		return slices.Contains(f.Extra.Imports, healthLibrary)
	}) {
		p.Drop(finding.Is[finding.HealthCheck]) // the library's service may be registered instead
	}
	for _, in := range p.Packages {
		resolveHTTP(in)
		in.Findings = finding.InMain(in.Findings, func(s finding.Server) bool { return w.mainFiles[s.Path] })
	}
}

// healthLibrary makes health services that know the whole server.
const healthLibrary = "google.golang.org/grpc/health"

// module decides the findings of one module.
type module struct {
	workspace
	registersKitex       bool
	noGRPC, hasOldGoZero bool // from its go.mod
	describesTriple      bool // from its settings
}

// decide returns the meaning of a finding in the module.
func (m module) decide(in *analyzer.Package, f finding.Finding) []finding.Finding {
	switch of := f.(type) {
	case finding.Server:
		if of.Framework == dubboGo {
			if speaksOther(in) {
				return nil
			}
			of.AutomaticHealth = m.hasDubboHealth(in)
		}
		of.AutomaticHealth = of.AutomaticHealth && !(of.Framework == goZero && m.hasOldGoZero)
		return []finding.Finding{of}
	case ofPackage:
		return m.meaning(in, of)
	}
	return []finding.Finding{f}
}

// meaning returns the findings for a name of a package in the module.
func (m module) meaning(in *analyzer.Package, f ofPackage) []finding.Finding {
	isProtobuf := func() bool { return m.isProtobufKitex(f.pkg) }
	_, isOwn := m.lookup(f.pkg)
	switch {
	case f.kind == healthRegistration:
		return []finding.Finding{f}
	case f.kind == registration && m.isRegistration(f.pkg):
		if _, isOwn := m.lookup(f.kratosBy); f.kratosBy != "" && !isOwn { // the maker of the server decides on TLS
			return []finding.Finding{
				finding.Server{Site: f.Site, Framework: kratos, AutomaticHealth: true},
				finding.Security{Site: f.Quiet()},
			}
		}
		return []finding.Finding{finding.Registration{Site: f.Site, Framework: grpcGo}}
	case f.kind == dubboDescribed && m.describesTriple:
		return []finding.Finding{
			finding.Server{Site: f.Site, Framework: dubboGo, AutomaticHealth: m.hasDubboHealth(in)},
		}
	case f.kind == healthCall && !isOwn:
		return []finding.Finding{finding.HealthElsewhere{Site: f.Site}}
	case f.kind == kitexServer && isProtobuf(), f.kind == kitexBareServer && m.registersKitex:
		return []finding.Finding{finding.Server{Site: f.Site, Framework: kitex}}
	case f.kind == kitexRegistration && isProtobuf():
		return []finding.Finding{finding.Registration{Site: f.Site, Framework: kitex}}
	}
	return nil
}

// isRegistration reports whether the RegisterXServer of a package is generated from protobuf. A package of the app must
// hold generated code. Any other package counts unless the module does not depend on grpc-go: a go.mod lists indirect
// dependencies too.
func (m module) isRegistration(pkg string) bool {
	if dir, ok := m.lookup(pkg); ok {
		return m.protos[dir]
	}
	return !m.noGRPC
}

// isProtobufKitex reports whether the package of a server of Kitex is generated from protobuf and not from Thrift: for
// protobuf, the directory above the package holds code of protoc-gen-go.
func (w workspace) isProtobufKitex(pkg string) bool {
	dir, ok := w.lookup(path.Dir(pkg))
	return ok && w.protos[dir]
}

// resolveHTTP decides the role of the servers of net/http in a package. Servers of net/http listen for servers of
// connect, and for servers of gRPC that handle requests and have no listener.
func resolveHTTP(in *analyzer.Package) {
	var web, other *finding.Site
	for s := range finding.All[finding.Server](in.Findings) {
		if s.Framework == connectGo {
			web = s.Site
		} else {
			other = s.Site
		}
	}
	listening := map[*finding.Site]bool{}
	for l := range finding.All[finding.Listener](in.Findings) {
		listening[l.Of] = true
	}
	handled := slices.Collect(finding.All[handledByHTTP](in.Findings))
	serves := web != nil || (len(handled) > 0 || finding.Has[unencryptedHTTP2](in.Findings)) && len(listening) == 0
	addresses := slices.Collect(finding.All[httpListener](in.Findings))
	security := securityOfHTTP(in)
	for _, h := range handled {
		if h.of == nil {
			continue
		}
		if len(addresses) == 0 || !serves && security != nil {
			in.Findings = append(in.Findings, finding.Security{Site: h.Quiet(), Of: h.of})
		}
		if (web != nil || len(listening) > 0) && !listening[h.of] {
			listening[h.of] = true
			in.Findings = append(in.Findings, notSeen(h.of))
		}
	}
	in.Findings = slices.DeleteFunc(in.Findings, finding.Is[httpListener])
	if !serves {
		return
	}
	isH2C := func(l httpListener) bool { return l.isH2C }
	for _, l := range addresses {
		if l.isH2C || !slices.ContainsFunc(addresses, isH2C) {
			if other != nil {
				l.address.Of = web
			}
			in.Findings = append(in.Findings, l.address)
		}
	}
	in.Findings = append(in.Findings, security...)
}

// hasH2C reports whether a package serves HTTP/2 without TLS.
func hasH2C(in *analyzer.Package) bool {
	for s := range finding.All[http2Served](in.Findings) {
		if s.h2c {
			return true
		}
	}
	return finding.Has[unencryptedHTTP2](in.Findings)
}

// securityOfHTTP returns the security of a package by its calls that serve HTTP over TLS, or nil without such a call.
func securityOfHTTP(in *analyzer.Package) []finding.Finding {
	for s := range finding.All[http2Served](in.Findings) {
		switch {
		case !s.overTLS:
		case hasH2C(in):
			return []finding.Finding{finding.Security{Site: s.Quiet()}}
		default:
			return []finding.Finding{finding.UsesTLS(s.Quiet(), "")}
		}
	}
	return nil
}

// joinPrograms moves the programs built from serving sources of the app into the module of the sources, and drops the
// servers of the programs. A program may have a health registration from a helper outside of the app.
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

// implyServers turns registrations of the health service into evidence of a server, for apps without any other: an
// unknown framework makes the server.
func implyServers(all []*project) {
	for _, p := range all {
		p.Decide(func(_ *analyzer.Package, f finding.Finding) []finding.Finding {
			if isA(healthRegistration)(f) {
				given, _ := f.(ofPackage)
				f = finding.Registration{Site: given.Site, Framework: grpcGo}
			}
			return []finding.Finding{f}
		})
	}
}
