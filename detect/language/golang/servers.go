package golang

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// postAnalyze returns a server for each package that makes a server.
func postAnalyze(files []analyzer.File[Extra], logf tree.Logf) []plan.Server {
	lookup := lookupIn(files)
	leaveOutTestHelpers(files, lookup)
	leaveOutOtherHealth(files, lookup)
	all := analyzer.Projects(files, packageOf)
	w := newWorkspace(all, lookup)
	for _, p := range all {
		w.resolve(p)
	}
	w.wire(all)
	w.shareHealth(all)
	w.borrowServers(all)
	for _, p := range all {
		w.joinPrograms(p)
		addDefaultListeners(p)
	}
	all = setExamplesAside(all)
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

// resolve decides what the findings are that mean something only together with others of their module.
func (w workspace) resolve(p *project) {
	w.leaveOutUnused(p)
	m := module{workspace: w}
	w.resolveConnect(p)
	for _, in := range p.Packages {
		for r := range finding.All[kitexRegistration](in.Findings) {
			m.registersKitex = m.registersKitex || w.isProtobufKitex(r.pkg)
		}
	}
	for _, f := range p.Files {
		isModule := f.Extra.ModulePath != ""
		m.noGRPC = m.noGRPC || isModule && !f.Extra.RequiresGRPC
		m.hasOldGoZero = m.hasOldGoZero || isModule && !f.Extra.GoZeroHealth
		m.dubboTriple = m.dubboTriple || f.Extra.DubboTriple
	}
	p.Decide(m.decide)
	if slices.ContainsFunc(p.Files, func(f analyzer.File[Extra]) bool {
		return slices.Contains(f.Extra.Imports, healthLibrary)
	}) {
		p.Drop(finding.Is[finding.HealthCheck]) // the library's may be registered in its place
	}
	for _, in := range p.Packages {
		in.Findings = finding.InMain(in.Findings, func(s finding.Server) bool { return w.mainFiles[s.Path] })
	}
}

// healthLibrary makes health services that know the whole server.
const healthLibrary = "google.golang.org/grpc/health"

// module is what decides about the findings of one module.
type module struct {
	workspace
	registersKitex       bool
	noGRPC, hasOldGoZero bool // what its go.mod says
	dubboTriple          bool
}

// decide returns what a finding is in the module.
func (m module) decide(in *analyzer.Package, f finding.Finding) []finding.Finding {
	decided, keep := f, true
	switch f := f.(type) {
	case finding.Server:
		if f.Framework == dubboGo {
			keep = !speaksOther(in)
			f.AutomaticHealth = m.hasDubboHealth(in)
		}
		f.AutomaticHealth = f.AutomaticHealth && !(f.Framework == goZero && m.hasOldGoZero)
		decided = f
	case dubboDescribed:
		keep = m.dubboTriple
		decided = finding.Server{Site: f.Site, Framework: dubboGo, AutomaticHealth: m.hasDubboHealth(in)}
	case dubboSpoken:
		keep = false
	case registration:
		decided, keep = finding.Registration{Site: f.Site, Framework: grpcGo}, m.isRegistration(f)
		if _, isOwn := m.lookup(f.kratosBy); keep && f.kratosBy != "" && !isOwn {
			return []finding.Finding{ // what makes the server decides on TLS
				finding.Server{Site: f.Site, Framework: kratos, AutomaticHealth: true},
				finding.Security{Site: f.Quiet()},
			}
		}
	case healthCall:
		_, isOwn := m.lookup(f.pkg)
		decided, keep = finding.HealthElsewhere{Site: f.Site}, !isOwn
	case kitexServer:
		decided, keep = finding.Server{Site: f.Site, Framework: kitex}, m.isProtobufKitex(f.pkg)
	case kitexBareServer:
		decided, keep = finding.Server{Site: f.Site, Framework: kitex}, m.registersKitex
	case kitexRegistration:
		decided, keep = finding.Registration{Site: f.Site, Framework: kitex}, m.isProtobufKitex(f.pkg)
	}
	if !keep {
		return nil
	}
	return []finding.Finding{decided}
}

// isRegistration reports whether a RegisterXServer is generated from protobuf. A function of the app's own with such a
// name is none, nor is a function of others in a module that does not depend on grpc-go: a go.mod lists the
// dependencies of its dependencies too.
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

// maxParsed is how many bytes of sources are parsed to find where servers listen.
const maxParsed = 16 << 20

// wire adds where the servers of packages listen. A package that makes no server and imports one that does may listen
// for that one.
func (w workspace) wire(all []*project) {
	servers, left := serverPackages(all), maxParsed
	for _, p := range all {
		texts := map[string][]analyzer.File[Extra]{}
		for _, f := range p.Files {
			if f.Extra.Text != nil {
				texts[path.Dir(f.Path)] = append(texts[path.Dir(f.Path)], f)
			}
		}
		for _, in := range p.Packages {
			files := texts[in.Path]
			switch {
			case left < 0:
				return
			case servers[in.Path] != nil:
				wirePackage(in, unitsOf(files, &left))
			case len(files) > 0 && len(servers) <= maxServing:
				w.wireImported(in, files, servers, &left)
			}
		}
	}
}

// unitsOf parses sources, and takes their bytes from what may still be parsed.
func unitsOf(files []analyzer.File[Extra], left *int) []*unit {
	var units []*unit
	for _, f := range files {
		*left -= len(f.Extra.Text)
		if file, err := syntax.Parse(f.Extra.Text, 0); err == nil {
			units = append(units, &unit{file, f.Path})
		}
	}
	return units
}

// wirePackage adds to a package which of its servers listens where and has the health service.
func wirePackage(in *analyzer.Package, units []*unit) {
	wired := newWiring(units, slices.Collect(finding.All[finding.Server](in.Findings)))
	in.Findings = slices.DeleteFunc(in.Findings, func(f finding.Finding) bool {
		s, ok := f.(finding.Server)
		return ok && wired.same[s.Site] != nil
	})
	in.Findings = append(in.Findings, wired.securityOfSame(in.Findings)...)
	var sites []*finding.Site
	for s := range finding.All[finding.Server](in.Findings) {
		sites = append(sites, s.Site)
	}
	wired.name(in.Findings)
	for i, f := range in.Findings {
		if h, ok := f.(finding.Health); ok && len(sites) > 1 {
			h.Of = wired.the(wired.health[h.Place])
			in.Findings[i] = h
		}
	}
	byHTTP, web := servesByHTTP(in, wired)
	in.Findings = append(in.Findings, wired.findings(len(sites), byHTTP, web)...)
	if byHTTP {
		in.Findings = append(in.Findings, securityOfHTTP(in)...)
	}
	isHTTP := func(l *listener) bool { return l.isHTTP }
	for _, of := range wired.handled {
		if !byHTTP && securityOfHTTP(in) != nil || !slices.ContainsFunc(wired.listeners, isHTTP) {
			in.Findings = append(in.Findings, finding.Security{Site: of.Quiet(), Of: of})
		}
	}
}

// securityOfSame returns that the security of a server is not known if it is made in several ways, with credentials in
// one of them.
func (w *wiring) securityOfSame(findings []finding.Finding) []finding.Finding {
	several := map[*finding.Site]*finding.Site{}
	for other, first := range w.same {
		several[other], several[first] = first, first
	}
	var unknown []finding.Finding
	for s := range finding.All[finding.Security](findings) {
		if of := several[s.Of]; of != nil {
			unknown = append(unknown, finding.Security{Site: s.Quiet(), Of: of})
		}
	}
	return unknown
}

// name adds to statuses the names of the services that the package states.
func (w *wiring) name(findings []finding.Finding) {
	for i, f := range findings {
		status, ok := f.(finding.HealthStatus)
		var names []string
		for _, t := range w.statuses[finding.Where(f)] {
			if names = append(names, t.s); strings.Contains(t.s, "$") {
				ok = false
			}
		}
		if ok && status.Named != "" {
			findings[i] = status.With(names...)
		}
	}
}

// servesByHTTP reports whether a server of a package is one of net/http, which gives its requests to connect or to
// grpc-go. It returns the one of connect.
func servesByHTTP(in *analyzer.Package, wired *wiring) (byHTTP bool, web *finding.Site) {
	isOther := false
	for s := range finding.All[finding.Server](in.Findings) {
		if isOther = isOther || s.Framework != connectGo; s.Framework == connectGo {
			web = s.Site
		}
	}
	switch {
	case web != nil && isOther:
		return true, web
	case web != nil:
		return true, nil
	}
	isHandler := finding.Has[handledByHTTP](in.Findings) || finding.Has[unencryptedHTTP2](in.Findings)
	return isHandler && !slices.ContainsFunc(wired.listeners, func(l *listener) bool { return !l.isHTTP }), nil
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

// securityOfHTTP returns what the calls of a package say that serve HTTP over TLS.
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

// wireImported gives the one package with a server that a package imports the listeners of this one.
func (w workspace) wireImported(
	in *analyzer.Package, files []analyzer.File[Extra], servers map[string]*analyzer.Package, left *int,
) {
	imported := serversAmong(servers, w.reach([]string{in.Path}), nil)
	listens := len(imported) == 1 && !finding.Has[finding.Listener](imported[0].Findings)
	if !listens && !finding.Has[finding.HealthStatus](in.Findings) {
		return
	}
	wired := newWiring(unitsOf(files, left), nil)
	if wired.name(in.Findings); listens {
		imported[0].Findings = append(imported[0].Findings, wired.findings(0, false, nil)...)
	}
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
			if given, ok := f.(healthOf); ok {
				f = finding.Registration{Site: given.Site, Framework: grpcGo}
			}
			return []finding.Finding{f}
		})
	}
}
