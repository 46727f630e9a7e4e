package node

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var (
	importedListen = regexp.MustCompile(`\b(?P<name>[\w$]+)\s*\.listen\(`)

	listenCall = regexp.MustCompile(`\.listen\(`)
	startCall  = regexp.MustCompile(`\.start\(`)
	// portProperty is a property of an object literal, or its short form { port }.
	portProperty = regexp.MustCompile(`\bport\s*:\s*|\bport\b\s*[,}]`)

	variableDeclaration = regexp.MustCompile(`\b(?:const|let|var)\s+(?P<name>[A-Za-z_$][\w$]*)\s*(?::[^=;\n]+)?=\s*`)
	// assignment is also the declaration of a variable with its value.
	assignment = regexp.MustCompile(`(?:^|[^\w$.])(?P<name>[A-Za-z_$][\w$]*)\s*(?::\s*[\w$\s|.<>\[\]]+)?=[^=>]`)
)

// findListen reports the ports of the calls that make a server listen. The servers of nice-grpc and grpc-kit listen on
// an address, so that a number is the port of another server. Those of Mali do so by start. HTTP servers listen on a
// number, or on an object with one.
func (p *pass) findListen() {
	switch {
	case p.findsFramework(niceGRPC) || p.findsFramework(grpcKit):
		p.findAddresses(listenCall)
	case p.findsFramework(mali):
		p.findAddresses(startCall)
	case p.has(connectHandler) || p.has(http2Server):
		p.findHTTPListen()
	}
}

// findsFramework reports whether a finding of a framework was made so far.
func (p *pass) findsFramework(name string) bool {
	return slices.ContainsFunc(p.findings, func(f analyzer.Finding) bool { return f.Framework == name })
}

// findAddresses reports the ports of calls whose first argument is an address.
func (p *pass) findAddresses(call *regexp.Regexp) {
	for _, m := range p.FindAll(call, address.MaxListeners) {
		each, _ := p.Arguments(m[1])
		if port, hosted := p.declarations().Address(each[0]); hosted || port.Number == address.UnknownPort {
			p.reportPort(analyzer.Listener, each[0])
		}
	}
}

// findHTTPListen reports the ports of calls of listen(port) and listen({ port }).
func (p *pass) findHTTPListen() {
	for _, m := range p.FindAll(listenCall, address.MaxListeners) {
		if port, ok := p.listenPort(m[1]); ok {
			p.reportPort(httpListener, port)
		}
	}
}

// listenPort returns the port in the arguments of a call of listen, or false for an object without one.
func (p *pass) listenPort(arguments int) (source.Span, bool) {
	each, _ := p.Arguments(arguments)
	port := each[0]
	if !bytes.HasPrefix(p.Code[port.From:port.To], []byte("{")) {
		return port, true
	}
	at := portProperty.FindIndex(p.Code[port.From:port.To])
	if at == nil {
		return source.Span{}, false
	}
	// The whole property, "port: 1" or "port": the name of a property that has a value is not read as a variable.
	properties, _ := p.Arguments(port.From + at[0])
	return properties[0], true
}

// reportPort reports a listener with the port that an expression states. A port that is not stated is reported as
// unknown, so that the port of another listener is not taken for it. One that other files may state is left to
// PostAnalyze.
func (p *pass) reportPort(kind analyzer.Kind, where source.Span) {
	p.listen(listener{kind: kind, setting: p.stated(where)})
}

func (p *pass) listen(l listener) {
	if l.server != "" || len(l.setting.names) > 0 {
		p.extra.listeners = append(p.extra.listeners, l)
		return
	}
	p.findings = append(p.findings, l.finding(stated{port: l.setting.port, place: plan.Place{Line: l.setting.line}}))
}

// finding returns the finding of a listener whose port is known to be, or not to be, stated.
func (l listener) finding(s stated) analyzer.Finding {
	return analyzer.Finding{Kind: l.kind, Port: s.port, Place: s.place}
}

func (p *pass) reportListener(kind analyzer.Kind, port address.Port) {
	found := analyzer.NewListener(p.Text, port)
	found.Kind = kind
	p.findings = append(p.findings, found)
}

// findListenOfImported reports the ports of servers that another module makes and that this one makes listen.
func (p *pass) findListenOfImported() {
	for _, m := range p.FindAll(importedListen, address.MaxListeners) {
		name := group(p.Text, importedListen, m, "name")
		module := p.moduleOf(name, m[0])
		if port, ok := p.listenPort(m[1]); ok && module != "" {
			p.listen(listener{kind: httpListener, setting: p.stated(port), server: module})
		}
	}
}

// moduleOf returns the module of the app that a name comes from, or that the function comes from which returns it.
func (p *pass) moduleOf(name string, at int) string {
	if e, ok := p.imports[name]; ok && mayBeOwnModule(e.module) {
		return e.module
	}
	for _, value := range p.declarations().Values(name, at) {
		if m := aliasHead.FindSubmatch(p.Code[value.From:value.To]); m != nil {
			if e, ok := p.imports[string(m[1])]; ok && mayBeOwnModule(e.module) {
				return e.module
			}
		}
	}
	return ""
}
