package node

import (
	"bytes"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	importedListen = lazyregexp.New(`\b(?P<name>[\w$]+)\s*\.(?P<how>listen|start)\(`)

	listenCall = lazyregexp.New(`\.listen\(`)
	startCall  = lazyregexp.New(`\.start\(`)
)

// findListen reports the ports of the calls that make a server listen. The servers of nice-grpc and grpc-kit listen on
// an address, so that a number is the port of another server. Those of Mali do so by start. HTTP servers listen on a
// number, or on an object with one.
func (p *pass) findListen() {
	switch {
	case listensItself(p.found):
		p.findAddresses(listenCall)
	case makes(p.found, mali):
		p.findAddresses(startCall)
	case p.servesHTTP():
		p.findHTTP2Security()
		for _, m := range p.FindAll(listenCall, address.MaxListeners) {
			if port, ok := p.listenPort(m[1]); ok {
				p.found = append(p.found, httpListener{p.listener(port)})
			}
		}
	}
}

// makes reports whether one of the findings is a server of a framework.
func makes(found []finding.Finding, framework string) bool {
	for s := range finding.All[finding.Server](found) {
		if s.Framework == framework {
			return true
		}
	}
	return false
}

// listensItself reports whether one of the findings is a server of a framework that has a method listen.
func listensItself(found []finding.Finding) bool {
	return makes(found, niceGRPC) || makes(found, grpcKit)
}

// findAddresses reports the addresses of calls whose first argument is one.
func (p *pass) findAddresses(call *lazyregexp.Regexp) {
	for _, m := range p.FindAll(call, address.MaxListeners) {
		each, _ := p.Arguments(m[1])
		l := p.listener(each[0])
		if l.Address.Port != 0 && !p.variables().Hosted(each[0]) {
			continue
		}
		l.Of = p.serverBefore(m[0])
		p.found = append(p.found, l)
		if len(each) > 1 {
			p.reportCredentials(l.Of, each[1])
		}
	}
}

// listenPort returns the port in the arguments of a call of listen, or false for an object without one.
func (p *pass) listenPort(arguments int) (source.Span, bool) {
	port := p.Element(arguments)
	if bytes.HasPrefix(p.Code[port.From:port.To], []byte("{")) {
		return p.own(port.From+1, "port")
	}
	return port, true
}

// listener returns the listener on the address that an expression states. One that is not stated is unknown, so that
// the port of another listener is not taken for it.
func (p *pass) listener(where source.Span) finding.Listener {
	return finding.Listener{Site: finding.At(p.Text, where).Quiet(), Address: p.value(where)}
}

// isListener reports whether a finding is a listener, whatever else has to be known of it.
func isListener(f finding.Finding) bool {
	switch f.(type) {
	case finding.Listener, httpListener, importedListener:
		return true
	}
	return false
}

// findListenOfImported reports the ports of servers that another module makes and that this one makes listen.
func (p *pass) findListenOfImported() {
	for _, m := range p.FindAll(importedListen, address.MaxListeners) {
		module := p.moduleOf(p.Part(importedListen, m, "name"), m[0])
		if port, ok := p.listenPort(m[1]); ok && module != "" {
			starts := p.Part(importedListen, m, "how") == "start"
			p.found = append(p.found, importedListener{p.listener(port), module, starts})
		}
	}
}

// moduleOf returns the module of the app that a name comes from, or that the function comes from which returns it.
func (p *pass) moduleOf(name string, at int) string {
	if e, ok := p.Imports[name]; ok && mayBeOwnModule(e.Module) {
		return e.Module
	}
	for _, value := range p.variables().Values(name, at) {
		if m := aliasHead.FindSubmatch(p.Code[value.From:value.To]); m != nil {
			if e, ok := p.Imports[string(m[1])]; ok && mayBeOwnModule(e.Module) {
				return e.Module
			}
		}
	}
	return ""
}
