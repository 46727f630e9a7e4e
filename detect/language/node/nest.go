package node

import (
	"cmp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// clientCall takes the options of a client of NestJS, and clientType is a type that only these have. ClientOptions
	// is not one: a sample of NestJS itself serves with them.
	clientCall = lazyregexp.New(`\bClientsModule\.register(?:Async)?\(|@Client\(|` +
		`\bClientProxyFactory\.create\(|\bnew\s+(?:[\w$]+\.)*ClientGrpc(?:Proxy)?\(`)
	clientType = lazyregexp.New(`\bClients?(?:ModuleOptionsFactory|` +
		`Provider\w*Options|ProvidersModuleOptions|ModuleOptions|Provider)\b`)
	// microserviceCall is up to the options, or up to an object literal that they are.
	microserviceCall = lazyregexp.New(`\b(?:createMicroservice\s*(?:<[^()]*?>)?\(\s*[\w$.]+(?:\([^()]*\))?\s*,|` +
		`connectMicroservice\s*(?:<[^()]*?>)?\()\s*(?:\{\s*\.\.\.|await\s+)?`)
	rootName  = lazyregexp.New(`^[\w$]+`)
	transport = lazyregexp.New(`\btransport\s*[:=]\s*(?:[^,;{}()=\n]*\?\s*)?(?:[\w$]+\.)*Transport\.(?P<name>\w+)`)
	// beforeOptions is what declares options.
	beforeOptions = lazyregexp.New(`\b(?:const|let|var|function|get|static|readonly)\s+(?P<name>[\w$]+)`)
	// optionsProperty is the property of a microservice with the options of its transport, or its name alone.
	optionsProperty = lazyregexp.New(`\boptions\s*(?::\s*(\{|[\w$.]+)|[,}\n])`)
	spread          = lazyregexp.New(`\.\.\.`)
	urlOption       = lazyregexp.New(`\burl\b`)
	midwaySettings  = lazyregexp.New(`\bgrpcServer\s*[:=]\s*\{`)
)

const (
	// maxListed is how many calls, transports or options of one source are looked at.
	maxListed = 64
	// maxOptions is how many bytes before the transport the options of a microservice may begin.
	maxOptions = 2000
)

// dropClients blanks the options of clients of NestJS, which look as those of servers do.
func (p *pass) dropClients() {
	for _, m := range p.FindAll(clientCall, maxListed) {
		_, all := p.Arguments(m[1])
		source.Blank(p.Code[all.From:all.To])
	}
}

// findNestJS reports the microservices of NestJS: calls that make one, if their options name Transport.GRPC, or options
// by the name of these do, and the options.
func (p *pass) findNestJS() {
	var calls, grpc []source.Span
	for _, m := range p.FindAll(microserviceCall, maxListed) {
		_, call := p.Arguments(m[1])
		call.From = m[0]
		calls = append(calls, call)
		code := p.Slice(call)
		of := transport.FindStringSubmatch(code)
		switch {
		case of != nil && of[1] == "GRPC":
			p.found = append(p.found, finding.Constructs(nestJS)(finding.At(p.Text, call), ""))
			grpc = append(grpc, call)
		case of == nil && !strings.Contains(code, "strategy"):
			name := string(rootName.Find(p.Code[m[1]:call.To]))
			if e, ok := p.imports[name]; ok {
				name = e.name
			}
			p.found = append(p.found, nestServer{finding.At(p.Text, call), name})
		}
	}
	for _, m := range p.FindAll(transport, maxListed) {
		isInCall := slices.ContainsFunc(calls, func(c source.Span) bool { return c.Contains(m[0]) })
		if isInCall || clientType.Match(p.Code) {
			continue
		}
		at := source.Span{From: m[0], To: m[1]}
		options := nestOptions{Site: finding.At(p.Text, at).Quiet(), isGRPC: p.Slice(at)[m[2]-m[0]:] == "GRPC"}
		if all := beforeOptions.FindAllSubmatch(p.Code[max(0, m[0]-maxOptions):m[0]], -1); all != nil {
			options.name = string(all[len(all)-1][1])
		}
		p.found = append(p.found, options)
		if options.isGRPC {
			_, open := p.Around(m[0], m[0]-maxOptions, "")
			_, around := p.Arguments(open + 1)
			grpc = append(grpc, around)
		}
	}
	for _, microservice := range grpc {
		options, areAll := p.optionsIn(microservice)
		if !areAll { // others may have credentials
			p.found = append(p.found, finding.UsesOther(finding.At(p.Text, microservice).Quiet(), ""))
		}
		p.found = append(p.found, p.urlIn(options, nestJS, areAll)...)
	}
}

// optionsIn returns the options of the transport of a microservice, which a variable of the source may have, and
// whether these are all.
func (p *pass) optionsIn(microservice source.Span) (options source.Span, areAll bool) {
	options, areAll = microservice, true
	m := optionsProperty.FindStringSubmatch(p.Slice(microservice))
	if m != nil && m[1] != "{" {
		areAll = false
		name := cmp.Or(m[1], "options")
		if values := p.names().Values(name, microservice.From); len(values) == 1 && p.Code[values[0].From] == '{' {
			_, options = p.Arguments(values[0].From + 1)
			areAll = true
		}
	}
	return options, areAll && !spread.MatchString(p.Slice(options))
}

// findMidway reports the address in the settings of Midway's server.
func (p *pass) findMidway() {
	for _, m := range p.FindAll(midwaySettings, maxListed) {
		_, settings := p.Arguments(m[1])
		for _, f := range p.urlIn(settings, midway, true) {
			site := finding.AtLine(finding.Where(f).Line, "")
			p.found = append(p.found, onlyFor{site, midway, f})
		}
	}
}

// urlIn returns the listener on the address among options of a framework, or on its default if these are all.
func (p *pass) urlIn(options source.Span, framework string, areAll bool) []finding.Finding {
	if p.urls == nil {
		p.urls = analyzer.Listeners(p.names(), urls)
	}
	var found []finding.Finding
	for _, f := range p.urls {
		if options.Contains(finding.Offset(f)) {
			found = append(found, f)
		}
	}
	if len(found) == 0 && areAll && !urlOption.MatchString(p.Slice(options)) {
		return analyzer.DefaultListener(frameworks, framework, p.Line(options.From))
	}
	return found
}
