package golang

import (
	"maps"
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/values"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// isListener reports whether a listener is one of a gRPC server. That of an HTTP server is if the module makes no gRPC
// server of its own. An address of a framework's server that the sources do not state is in the settings, or the
// framework has its own.
func (m module) isListener(in *analyzer.Package, l listener) bool {
	switch {
	case l.by == plainGRPC:
		return true
	case l.of == nil && m.isBeside(in):
		return false
	}
	switch l.by {
	case plainHTTP:
		return (!m.servesPlain || m.handled[in] || l.of != nil) && mayServeHTTP2(in, l)
	case frameworkServer:
		return l.says.Certainty != address.Unknown || l.says.Variable != ""
	case givenServer:
		return false
	case importedServer:
		return m.importsServer(in)
	default:
		return !m.toldApart[in]
	}
}

// servesByHTTP reports whether the server of a package is one of net/http, which gives its requests to connect or to
// grpc-go.
func (m module) servesByHTTP(in *analyzer.Package) bool {
	if m.handled[in] {
		return true
	}
	for s := range finding.All[finding.Server](in.Findings) {
		if s.Framework != connectGo {
			return false
		}
	}
	return finding.Has[finding.Server](in.Findings)
}

// mayServeHTTP2 reports whether a server of net/http in a package may serve HTTP/2 by a listener: without TLS if it is
// set up for it, or else by TLS alone if it has some.
func mayServeHTTP2(in *analyzer.Package, l listener) bool {
	switch {
	case l.http2:
		return true
	case hasHTTP2Listener(in):
		return false
	case l.overTLS || finding.Has[unencryptedHTTP2](in.Findings):
		return true
	}
	for served := range finding.All[http2Served](in.Findings) {
		if served.h2c {
			return true
		}
	}
	_, hasTLS := listenerOverTLS(in)
	return !hasTLS
}

// servesOverTLS reports whether what a call says that serves HTTP over TLS in a package is about its gRPC server: it is
// not, if a listener that is set up for HTTP/2 without TLS is on another port than the one with TLS.
func (m module) servesOverTLS(in *analyzer.Package) bool {
	l, hasTLS := listenerOverTLS(in)
	switch {
	case hasTLS && !hasHTTP2Listener(in) && l.of != nil:
		return true
	case !hasTLS || l.says.Local() == 0:
		return m.servesByHTTP(in)
	}
	for plain := range finding.All[listener](in.Findings) {
		if plain.http2 && plain.says.Local() != 0 && plain.says.Local() != l.says.Local() {
			return false
		}
	}
	return m.servesByHTTP(in)
}

// listenerOverTLS returns the first listener of a package whose server of net/http speaks TLS there.
func listenerOverTLS(in *analyzer.Package) (listener, bool) {
	for l := range finding.All[listener](in.Findings) {
		if l.overTLS && l.by == plainHTTP && !l.http2 {
			return l, true
		}
	}
	return listener{}, false
}

// hasHTTP2Listener reports whether a server of net/http in a package is set up for HTTP/2 without TLS: others beside it
// are not for gRPC.
func hasHTTP2Listener(in *analyzer.Package) bool {
	for l := range finding.All[listener](in.Findings) {
		if l.http2 {
			return true
		}
	}
	return false
}

// withoutSockets leaves out the Unix domain sockets of servers that listen on TCP too: those are for the app itself.
func withoutSockets(findings []finding.Finding) []finding.Finding {
	onTCP := map[*finding.Site]bool{}
	for l := range finding.All[finding.Listener](findings) {
		if l.Address.Host != address.UnixSocket {
			onTCP[l.Of], onTCP[nil] = true, true
		}
	}
	return slices.DeleteFunc(findings, func(f finding.Finding) bool {
		l, ok := f.(finding.Listener)
		return ok && l.Address.Host == address.UnixSocket && onTCP[l.Of]
	})
}

// listenersOf returns the packages whose server of grpc-go is a handler of net/http and listens itself nowhere, and
// those whose one server of grpc-go has a listener of its own, so that other listeners are not for it.
func listenersOf(p *project) (handled, toldApart map[*analyzer.Package]bool) {
	handled, toldApart = map[*analyzer.Package]bool{}, map[*analyzer.Package]bool{}
	for _, in := range p.Packages {
		servers := 0
		for range finding.All[finding.Server](in.Findings) {
			servers++
		}
		byHTTP := finding.Has[handledByHTTP](in.Findings) || finding.Has[unencryptedHTTP2](in.Findings)
		own := finding.Has[finding.Listener](in.Findings) || listens(in.Findings, anyServer, plainGRPC)
		handled[in] = byHTTP && servers > 0 && !own
		toldApart[in] = listens(in.Findings, plainGRPC) && servers <= 1
	}
	return handled, toldApart
}

// mayGet returns a listener with TLS that a server may get which is not seen to get one: one in another folder of its
// module, but not that of another program, or of one beside the app proper. Those in its own folder are seen: see
// mayBeSecured.
func (f *flow) mayGet(server *finding.Site) *finding.Site {
	if f.listening[server] || f.handlers[server] != nil {
		return nil
	}
	module, dir := f.ModuleOf(server.Path), path.Dir(server.Path)
	for _, l := range f.tlsListeners[:min(len(f.tlsListeners), maxStarted)] {
		of := path.Dir(l.Path)
		isOther := f.programs[of] && (f.programs[dir] || isAside(of) && !isAside(dir))
		if of != dir && !isOther && f.ModuleOf(l.Path) == module {
			return l
		}
	}
	return nil
}

// isAside reports whether a folder is in the tools, examples or tests of an app.
func isAside(dir string) bool {
	aside, _ := tree.Aside(dir + "/main.go")
	return aside != ""
}

// listenersOverTLS returns the listeners that calls make with TLS, or wrap in TLS.
func (f *flow) listenersOverTLS(secured []values.Made) []values.Made {
	over := slices.Clone(secured)
	for _, made := range secured {
		by := f.tls[made.Call]
		over = append(over, f.MadeWithin(made, by.In, by.Call.Args[0], func(c values.Call) bool {
			return f.listeners[c] != nil
		})...)
	}
	return over
}

// mayBeSecured learns that a server is given a listener that is not known. It may be one of its package: one with TLS,
// or one without. One that is made elsewhere may have TLS, unless the configuration that makes the server says more.
func (f *flow) mayBeSecured(by listenerOf, server, at *finding.Site) {
	isNear := func(made values.Call) bool { return path.Dir(made.Path) == path.Dir(at.Path) }
	_, isKnown := f.secured[server]
	isElsewhere := by == plainGRPC && !isKnown && !slices.ContainsFunc(slices.Collect(maps.Keys(f.listeners)), isNear)
	if isElsewhere || slices.ContainsFunc(slices.Collect(maps.Keys(f.tls)), isNear) {
		f.secured[server] = plan.Security{Place: at.Place}
	}
}
