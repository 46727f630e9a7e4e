package golang

import (
	"maps"
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
)

// workspace is all modules of an app, and how their packages import each other.
type workspace struct {
	// lookup returns the directory of the package with an import path. It reports whether it is in the app.
	lookup  func(importPath string) (dir string, ok bool)
	modules map[string]*project // by module path
	// What the directories hold: code that protoc-gen-go generated, code that protoc-gen-connect-go did, any Go.
	protos, connects, sources map[string]bool
	servers                   map[string]bool // the directories of packages that construct servers

	imports map[string][]string // import paths by directory of the importing package
	mains   map[string]bool     // the directories of packages main
	used    map[string]bool     // the directories of packages main and of all that these import
}

func newWorkspace(all []*project, lookup func(importPath string) (dir string, ok bool)) workspace {
	w := workspace{
		lookup: lookup, modules: map[string]*project{}, protos: map[string]bool{}, connects: map[string]bool{},
		sources: map[string]bool{}, servers: map[string]bool{}, imports: map[string][]string{},
		mains: map[string]bool{},
	}
	for _, p := range all {
		for _, f := range p.Files {
			dir := path.Dir(f.Path)
			if module := f.Extra.ModulePath; module != "" && w.modules[module] == nil {
				w.modules[module] = p
			}
			w.protos[dir] = w.protos[dir] || f.Extra.GeneratedProto
			w.connects[dir] = w.connects[dir] || f.Extra.GeneratedConnect
			w.sources[dir] = w.sources[dir] || len(f.Extra.Imports) > 0
			w.servers[dir] = w.servers[dir] || analyzer.Has(f.Findings, analyzer.ServerConstructed)
			w.imports[dir] = append(w.imports[dir], f.Extra.Imports...)
			if f.Extra.Main {
				w.mains[dir] = true
			}
		}
	}
	w.used = w.reach(slices.Collect(maps.Keys(w.mains)))
	return w
}

// moduleOf returns the module of the package with an import path, or nil where it is not in the app.
func (w workspace) moduleOf(importPath string) *project {
	for p := importPath; p != "." && p != "/" && p != ""; p = path.Dir(p) {
		if module := w.modules[p]; module != nil {
			return module
		}
	}
	return nil
}

// reach returns the directories and those of all packages of the app that they import, and that these import.
func (w workspace) reach(from []string) map[string]bool {
	return closure(from, func(dir string) []string {
		var imported []string
		for _, importPath := range w.imports[dir] {
			if dir, ok := w.lookup(importPath); ok {
				imported = append(imported, dir)
			}
		}
		return imported
	})
}

// closure returns directories and all that next leads to from them.
func closure(from []string, next func(dir string) []string) map[string]bool {
	reached := map[string]bool{}
	for left := slices.Clone(from); len(left) > 0; {
		dir := left[len(left)-1]
		left = left[:len(left)-1]
		if !reached[dir] {
			reached[dir] = true
			left = append(left, next(dir)...)
		}
	}
	return reached
}

// importsServer reports whether a package imports one that constructs a server.
func (w workspace) importsServer(in *analyzer.Package) bool {
	return slices.ContainsFunc(w.imports[in.Path], func(importPath string) bool {
		dir, ok := w.lookup(importPath)
		return ok && w.servers[dir]
	})
}

// leaveOutUnused leaves out the findings in packages of a module that no program of the app imports: only tests use
// them, or programs of others. Without a go.mod it is not known which directory an import path means.
func (w workspace) leaveOutUnused(p *project) {
	isModule := slices.ContainsFunc(p.Files, func(f analyzer.File[Extra]) bool { return f.Extra.ModulePath != "" })
	if !isModule {
		return
	}
	for _, in := range p.Packages {
		if !in.Built && w.sources[in.Path] && !w.used[in.Path] {
			in.Findings = nil
		}
	}
}

// maxServing is how many packages of a module are looked at that serve HTTP/2: what each imports is searched.
const maxServing = 64

// resolveConnect replaces the handlers of connect. A handler proves a server only where HTTP/2 is served. The server is
// constructed where that is: in the handler's package or in one that imports it. The handlers of several packages are
// services of one server then, each mounted on its mux.
func (w workspace) resolveConnect(p *project) {
	p.Resolve(func(_ *analyzer.Package, f analyzer.Finding) (analyzer.Finding, bool) {
		return f, f.Kind != connectHandler || w.isConnectHandler(f)
	})
	if !slices.ContainsFunc(p.Packages, packageServesHTTP2) {
		p.Resolve(func(_ *analyzer.Package, f analyzer.Finding) (analyzer.Finding, bool) {
			return f, f.Kind != connectHandler
		})
	}
	if !p.Has(connectHandler) {
		return
	}
	for _, in := range w.serving(p) {
		for i := range in.Findings {
			if k := in.Findings[i].Kind; k == connectHandler {
				in.Findings[i].Kind = analyzer.ServerConstructed
			}
		}
		if in.Has(analyzer.ServerConstructed) {
			continue
		}
		if f, ok := in.First(http2Served, httpServer); ok {
			f.Kind, f.Framework, f.Excerpt = analyzer.ServerConstructed, connectGo, ""
			in.Findings = append(in.Findings, f)
		}
	}
	p.Resolve(func(_ *analyzer.Package, f analyzer.Finding) (analyzer.Finding, bool) {
		if f.Kind == connectHandler {
			f.Kind = analyzer.ServiceRegistered
		}
		return f, true
	})
}

// isConnectHandler reports whether a function NewXHandler is generated by protoc-gen-connect-go. That is not known of a
// package that is not in the app, or that is generated later.
func (w workspace) isConnectHandler(f analyzer.Finding) bool {
	dir, ok := w.lookup(f.ImportPath)
	return !ok || w.connects[dir] || !w.sources[dir]
}

// serving returns the packages of a module that serve HTTP/2 with handlers of connect: their own, or those of packages
// that they import.
func (w workspace) serving(p *project) []*analyzer.Package {
	var serving []*analyzer.Package
	looked := 0
	for _, in := range p.Packages {
		servesHTTP := in.Has(http2Served, unencryptedHTTP2, httpServer, httpListener)
		switch {
		case !servesHTTP:
		case in.Has(connectHandler):
			serving = append(serving, in)
		case packageServesHTTP2(in):
			if looked++; looked > maxServing {
				continue
			}
			for dir := range w.reach([]string{in.Path}) {
				if used := p.Package(dir); used != nil && used.Has(connectHandler) {
					serving = append(serving, in)
					break
				}
			}
		}
	}
	return serving
}

// packageServesHTTP2 reports whether a package serves HTTP/2. A client may allow unencrypted HTTP/2 too, so that counts
// only beside a server.
func packageServesHTTP2(in *analyzer.Package) bool {
	return in.Has(http2Served) || in.Has(unencryptedHTTP2) && in.Has(httpServer)
}
