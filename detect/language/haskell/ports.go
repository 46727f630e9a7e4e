package haskell

import (
	"bytes"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// portConstants are those of grapesy (grapesy/src/Network/GRPC/Common.hs).
var portConstants = map[string]int{"defaultInsecurePort": 50051, "defaultSecurePort": 50052}

var (
	declarationPatterns = []*lazyregexp.Regexp{
		lazyregexp.New(`(?m)^[ \t]*(?:(?:let|where)[ \t]+)?(?P<name>[a-z_]\w*)[ \t]*=\s+`),
		lazyregexp.New(`(?m)^[ \t]*(?P<name>[a-z_]\w*)[ \t]*<-\s+`),
	}
	// optionsPort is a field of the options of grpc-haskell, and defaultOptions are those without one.
	optionsPort    = lazyregexp.New(`\b(?:serverPort|optServerPort)\s*=\s+`)
	defaultOptions = lazyregexp.New(`\bdefault(?:Service)?Options\b`)
	// lowLevelPort is a field of the configuration of grpc-haskell's low level
	// (core/src/Network/GRPC/LowLevel/Server.hs), and lowLevelConfig is that configuration: without names of fields its
	// second argument is a port.
	lowLevelPort   = lazyregexp.New(`\bServerConfig\s*\{[^{}]{0,400}?\bport\s*=\s+`)
	lowLevelConfig = lazyregexp.New(`\bServerConfig\b`)
	muRun          = lazyregexp.New(`\brunGRpcApp(?:Trans)?\b`)
	// warpPort is how Warp is told a port.
	warpPort = lazyregexp.New(`\b(?:run|runEnv|setPort)\b`)
)

// listeners returns the ports of the servers in a text. Names that other packages have too belong to a framework only
// in a file with findings of it.
func listeners(t *source.Text, findings []finding.Finding) []finding.Finding {
	p := &portReader{address.Read(t, "\n", declarationPatterns...), nil}
	p.grapesy()
	uses := map[string]bool{}
	for _, f := range findings {
		uses[finding.FrameworkOf(f)] = true
	}
	if uses[grpcHaskell] {
		p.grpcHaskellPorts()
	}
	if uses[warpGRPC] || uses[muHaskell] {
		p.arguments(warpPort, 0)
	}
	if uses[muHaskell] {
		p.muPorts()
	}
	p.security(uses)
	return p.found
}

// portReader collects the listeners of a text.
type portReader struct {
	*address.Names
	found []finding.Finding
}

func (p *portReader) add(v address.Value) { p.found = append(p.found, finding.ListenerAt(v)) }

// fields adds the ports that fields of records have, and reports whether there are any.
func (p *portReader) fields(field *lazyregexp.Regexp) bool {
	matches := p.FindAll(field, address.MaxListeners)
	for _, m := range matches {
		p.add(p.port(source.Span{From: m[1], To: p.Until(m[1], ",\n")}))
	}
	return len(matches) > 0
}

// grpcHaskellPorts adds the ports of grpc-haskell's options, which have a default, and of its low level.
func (p *portReader) grpcHaskellPorts() {
	if !p.fields(optionsPort) {
		for _, m := range p.FindAll(defaultOptions, 1) {
			p.found = append(p.found, analyzer.DefaultListener(frameworks, grpcHaskell, p.Line(m[0]))...)
		}
	}
	p.fields(lowLevelPort)
	p.arguments(lowLevelConfig, 1)
}

// muPorts adds the ports of the functions that run a server of Mu: their second argument, and in versions before Mu had
// several protocols the first.
func (p *portReader) muPorts() {
	for _, m := range p.FindAll(muRun, address.MaxListeners) {
		if arguments := p.applied(m[1], 2); len(arguments) == 2 {
			slices.Reverse(arguments)
			p.add(p.FirstValue(arguments))
		}
	}
}

// arguments adds the port that functions of a pattern are applied to, as the argument with a number, from 0.
func (p *portReader) arguments(function *lazyregexp.Regexp, number int) {
	for _, m := range p.FindAll(function, address.MaxListeners) {
		if arguments := p.applied(m[1], number+1); len(arguments) > number {
			p.add(p.port(arguments[number]))
		}
	}
}

// port returns the port that an expression states.
func (p *portReader) port(at source.Span) address.Value { return p.portOn(source.Span{}, at) }

// portOn returns the port that an expression states, on the host that another one states.
func (p *portReader) portOn(host, at source.Span) address.Value {
	name := strings.TrimSpace(p.Slice(at))
	if number := portConstants[name[strings.LastIndexByte(name, '.')+1:]]; number != 0 {
		return address.Value{Address: address.At(number, plan.Place{Line: p.Line(at.From)})}
	}
	return p.ValueOn(host, at)
}

// applied returns the arguments that a function is applied to, whose name ends at an offset: up to limit of them, each
// a name, a number, a string, or something in brackets.
func (p *portReader) applied(at, limit int) []source.Span {
	var arguments []source.Span
	for len(arguments) < limit {
		rest := p.Trim(source.Span{From: at, To: min(len(p.Code), at+400)})
		end := p.atomEnd(rest.From)
		if rest.From == at || end == rest.From {
			break // no white space, or no argument
		}
		arguments = append(arguments, source.Span{From: rest.From, To: end})
		at = end
	}
	return arguments
}

// atomEnd returns where the expression ends that begins at an offset, if it needs no brackets to be an argument.
func (p *portReader) atomEnd(from int) int {
	if from >= len(p.Code) {
		return from
	}
	switch p.Code[from] {
	case '(', '[':
		return min(len(p.Code), p.Until(from+1, "")+1)
	case '"':
		if n := bytes.IndexByte(p.Code[from+1:min(len(p.Code), from+200)], '"'); n >= 0 {
			return from + n + 2
		}
		return from
	}
	end := from
	for end < len(p.Code) && end-from < 200 && isNameByte(p.Code[end]) {
		end++
	}
	return end
}

// isNameByte reports whether a byte is part of a name, with the modules before it, or of a number.
func isNameByte(c byte) bool { return source.IsWordByte(c) || c == '.' || c == '\'' }
