package node

import (
	"bytes"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	importedListen = lazyregexp.New(`\b(?P<name>[\w$]+)\s*\.(?P<method>listen|start)\(`)

	// listenCalls are the calls of [listeningMethods]. HTTP servers have the first one.
	listenCalls = map[string]*lazyregexp.Regexp{
		"listen": lazyregexp.New(`\.listen\(`), "start": lazyregexp.New(`\.start\(`),
	}
)

// findListen reports the ports of the calls that make a server listen. The servers of frameworks listen on an address,
// so that a number is the port of another server. HTTP servers listen on a number, or on an object with one.
func (p *pass) findListen() {
	by := listeningMethod(p.found)
	switch {
	case by != "":
		p.findAddresses(by)
	case p.servesHTTP():
		p.findHTTP2Security()
		for _, m := range p.FindAll(listenCalls["listen"], address.MaxListeners) {
			if port, ok := p.listenPort(m[1]); ok {
				p.found = append(p.found, httpListener{p.listener(port)})
			}
		}
	}
}

// listeningMethod returns the method by which one of the servers among findings listens, of a framework that has one;
// "" for none.
func listeningMethod(found []finding.Finding) string {
	for s := range finding.All[finding.Server](found) {
		if method := listeningMethods[s.Framework]; method != "" {
			return method
		}
	}
	return ""
}

// findAddresses reports the addresses of calls of a method whose first argument is one.
func (p *pass) findAddresses(method string) {
	for _, m := range p.FindAll(listenCalls[method], address.MaxListeners) {
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
			method := p.Part(importedListen, m, "method")
			p.found = append(p.found, importedListener{p.listener(port), module, method})
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
