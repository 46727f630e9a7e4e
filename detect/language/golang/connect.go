package golang

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
)

// maxServing bounds the packages with HTTP/2 of a module: the imports of each are searched.
const maxServing = 64

// resolveConnect decides the meaning of the handlers of connect. A handler proves a server only if the module serves
// HTTP/2. The server is constructed if the handler's package or an importer serves HTTP/2. The handlers of several
// packages are then services of a single server, each mounted on the server's mux.
func (w workspace) resolveConnect(p *project) {
	servesHTTP2 := slices.ContainsFunc(p.Packages, packageServesHTTP2)
	p.Drop(func(f finding.Finding) bool {
		h, _ := f.(ofPackage)
		return h.kind == connectHandler && !(servesHTTP2 && w.isConnectHandler(h.pkg))
	})
	if !slices.ContainsFunc(p.Packages, handlesConnect) {
		return
	}
	serving := w.serving(p)
	p.Decide(func(in *analyzer.Package, f finding.Finding) []finding.Finding {
		h, _ := f.(ofPackage)
		switch {
		case h.kind != connectHandler:
			return []finding.Finding{f}
		case serving[in]:
			return []finding.Finding{finding.Server{Site: h.Site, Framework: connectGo}}
		default:
			return []finding.Finding{finding.Registration{Site: h.Site, Framework: connectGo}}
		}
	})
	for in := range serving {
		if finding.Has[finding.Server](in.Findings) {
			continue
		}
		i := slices.IndexFunc(in.Findings, finding.Is[http2Served])
		if i < 0 {
			i = slices.IndexFunc(in.Findings, finding.Is[httpServer])
		}
		if i >= 0 {
			site := finding.AtPlace(finding.Where(in.Findings[i]), "")
			in.Findings = append(in.Findings, finding.Server{Site: site, Framework: connectGo})
		}
	}
}

// isConnectHandler reports whether protoc-gen-connect-go generates a function NewXHandler. A package outside
// of the app or without sources counts too: the code may be generated later.
func (w workspace) isConnectHandler(pkg string) bool {
	dir, ok := w.lookup(pkg)
	return !ok || w.connects[dir] || !w.sources[dir]
}

func handlesConnect(in *analyzer.Package) bool {
	return slices.ContainsFunc(in.Findings, isA(connectHandler))
}

// serving returns the packages of a module that serve HTTP/2 with handlers of connect, from the package or its imports.
// Without any, the only package that serves HTTP/2 may get the handlers in a different way.
func (w workspace) serving(p *project) map[*analyzer.Package]bool {
	serving := map[*analyzer.Package]bool{}
	var all []*analyzer.Package
	reaches := func(in *analyzer.Package) bool {
		for dir := range w.reach([]string{in.Path}) {
			if used := p.Package(dir); used != nil && handlesConnect(used) {
				return true
			}
		}
		return false
	}
	for _, in := range p.Packages {
		if packageServesHTTP2(in) {
			all = append(all, in)
		}
		if packageServesHTTP(in) && handlesConnect(in) ||
			packageServesHTTP2(in) && len(all) <= maxServing && reaches(in) {
			serving[in] = true
		}
	}
	if len(serving) == 0 && len(all) == 1 {
		serving[all[0]] = true
	}
	return serving
}

// packageServesHTTP reports whether a package serves HTTP of any version.
func packageServesHTTP(in *analyzer.Package) bool {
	return finding.Has[http2Served](in.Findings) || finding.Has[unencryptedHTTP2](in.Findings) ||
		finding.Has[httpServer](in.Findings)
}

// packageServesHTTP2 reports whether a package serves HTTP/2. A client may allow unencrypted HTTP/2 too, so
// unencrypted HTTP/2 counts only beside a server.
func packageServesHTTP2(in *analyzer.Package) bool {
	return finding.Has[http2Served](in.Findings) ||
		finding.Has[unencryptedHTTP2](in.Findings) && finding.Has[httpServer](in.Findings)
}
