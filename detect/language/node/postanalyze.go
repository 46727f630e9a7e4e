package node

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

type project = analyzer.Project[extra]

// postAnalyze returns a server for each file that makes a server.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	m := newModules(files)
	m.markEntries()
	for i := range files {
		m.findListeners(&files[i])
	}
	all := analyzer.Projects(files, analyzer.FileIsPackage)
	for _, p := range all {
		m.resolve(p)
	}
	analyzer.DropBuilt(all)
	servers := analyzer.Servers(all, logf)
	for i := range servers {
		switch strings.ToLower(path.Ext(servers[i].Evidence.Path)) {
		case ".ts", ".mts", ".cts":
			servers[i].Language = typescript
		}
	}
	return servers
}

// resolve decides the findings that depend on others of the project. Handlers of Connect serve gRPC where HTTP/2 is
// served. A microservice of NestJS whose options are in another file serves gRPC where these say so. Where it is not
// known which file has them, it is enough that there are options or controllers for gRPC.
func (m *modules) resolve(p *project) {
	http2 := scopeOf(p, servesHTTP2, connectHandler)
	nest := scopeOf(p, hasNestGRPC, analyzer.ServerConstructed, nestServer)
	mounted := mountedHandlers(p)
	p.Resolve(func(in *analyzer.Package, f analyzer.Finding) (analyzer.Finding, bool) {
		switch {
		case f.Kind == connectHandler && http2.contains(f.Path):
			f.Kind = analyzer.ServerConstructed
			if mounted[in.Path] {
				f.Kind = analyzer.ServiceRegistered
			}
		case f.Kind == nestServer:
			options := m.nestOptions(in.Path, f.ImportPath)
			if options == nestOptions || options == "" && nest.contains(f.Path) {
				f.Kind = analyzer.ServerConstructed
			}
		case f.Kind == httpListener && http2.contains(in.Path):
			f.Kind = analyzer.Listener
		}
		return f, true
	})
}

// nestOptions returns which options of microservices an import of a file means, as importedOptions writes it:
// nestOptions, nestOtherOptions, or "" where that is not known.
func (m *modules) nestOptions(from, imported string) analyzer.Kind {
	module, name, ok := strings.Cut(imported, " ")
	if !ok {
		return ""
	}
	file := m.find(from, module)
	for range maxImports {
		if file == nil {
			return ""
		}
		kind := analyzer.Kind("")
		for _, f := range file.Findings {
			if f.Kind != nestOptions && f.Kind != nestOtherOptions {
				continue
			}
			if f.ImportPath == name {
				return f.Kind
			}
			if kind != nestOptions {
				kind = f.Kind
			}
		}
		if kind != "" || len(file.Extra.reexports) == 0 {
			return kind
		}
		file = m.reexported(file)
	}
	return ""
}

// reexported returns the first module whose names a file exports as its own and that has options of microservices.
func (m *modules) reexported(file *analyzer.File[extra]) *analyzer.File[extra] {
	for _, module := range file.Extra.reexports {
		f := m.find(file.Path, module)
		if f != nil && (analyzer.Has(f.Findings, nestOptions) || analyzer.Has(f.Findings, nestOtherOptions)) {
			return f
		}
	}
	return nil
}

// mountedHandlers returns the files whose handlers of Connect belong to the server of another file. Where one file
// below a directory serves HTTP/2, all handlers below it are mounted there, and one of them stands for the server: its
// own, or else the first.
func mountedHandlers(p *project) map[string]bool {
	servers := analyzer.ServerCount{}
	own := map[string]bool{}
	for _, in := range p.Packages {
		if in.Has(http2Server) {
			servers.Add(in.Path)
			for dir := range tree.Ancestors(in.Path) {
				own[dir] = own[dir] || in.Has(connectHandler)
			}
		}
	}
	mounted := map[string]bool{}
	for _, in := range p.Packages {
		if !in.Has(connectHandler) || in.Has(http2Server) {
			continue
		}
		if dir := servers.Innermost(in.Path); servers[dir] == 1 {
			mounted[in.Path] = own[dir]
			own[dir] = true
		}
	}
	return mounted
}

// findListeners adds the listeners of a file whose ports depend on others.
func (m *modules) findListeners(f *analyzer.File[extra]) {
	for _, l := range f.Extra.listeners {
		m.left = maxLookups
		of := f
		if l.server != "" {
			if of = m.find(f.Path, l.server); of == nil || !listens(of.Findings, &l) {
				continue
			}
		}
		found := m.port(f, l.setting, 0)
		if found.port == 0 {
			found.port = address.UnknownPort
		}
		if found.place.Path == "" {
			found.place = plan.Place{Path: f.Path, Line: l.setting.line}
		}
		of.Findings = append(of.Findings, l.finding(found))
	}
	for _, server := range f.Findings {
		if server.Kind != nestServer {
			continue
		}
		m.left = maxLookups
		module, name, _ := strings.Cut(server.ImportPath, " ")
		options := m.reference(f, reference{module: module, path: name + ".options.url"}, 0)
		if name != "" && options.port > 0 {
			f.Findings = append(f.Findings, listener{kind: analyzer.Listener}.finding(options))
		}
	}
}

// listens decides what a listener means for the server of another module, which has these findings. It reports whether
// there is such a server.
func listens(findings []analyzer.Finding, l *listener) bool {
	if analyzer.Has(findings, connectHandler) || analyzer.Has(findings, http2Server) {
		return true
	}
	l.kind = analyzer.Listener // nice-grpc and grpc-kit listen themselves, and HTTP servers do not
	return slices.ContainsFunc(findings, func(f analyzer.Finding) bool {
		return f.Kind == analyzer.ServerConstructed && (f.Framework == niceGRPC || f.Framework == grpcKit)
	})
}

func servesHTTP2(in *analyzer.Package) bool { return in.Has(http2Server) }

// hasNestGRPC reports whether a file has options of NestJS for gRPC, or implements a service for it.
func hasNestGRPC(in *analyzer.Package) bool {
	return in.Has(nestOptions) || slices.ContainsFunc(in.Findings, func(f analyzer.Finding) bool {
		return f.Framework == nestJS && (f.Kind == analyzer.ServiceImplemented || f.Kind == analyzer.ServiceRegistered)
	})
}

// scope is a set of directories.
type scope map[string]bool

// scopeOf returns the directories that evidence is about. In a monorepo that is the app that it lies in: the innermost
// directory around it that holds a server. servers are the kinds of findings that only servers have.
func scopeOf(p *project, isEvidence func(in *analyzer.Package) bool, servers ...analyzer.Kind) scope {
	count, dirs := analyzer.ServerCount{}, scope{}
	for _, in := range p.Packages {
		if in.Has(servers...) {
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
