package node

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// clientCall takes the options of a client of NestJS. clientType is a type of such options only. ClientOptions is
	// no clientType: a sample of NestJS itself serves with ClientOptions.
	clientCall = lazyregexp.New(`\bClientsModule\.register(?:Async)?\(|@Client\(|` +
		`\bClientProxyFactory\.create\(|\bnew\s+(?:[\w$]+\.)*ClientGrpc(?:Proxy)?\(`)
	clientType = lazyregexp.New(`\bClients?(?:ModuleOptionsFactory|` +
		`Provider\w*Options|ProvidersModuleOptions|ModuleOptions|Provider)\b`)
	// microserviceCall ends before the options, or within an object literal of options.
	microserviceCall = lazyregexp.New(`\b(?:createMicroservice\s*(?:<[^()]*?>)?\(\s*[\w$.]+(?:\([^()]*\))?\s*,|` +
		`connectMicroservice\s*(?:<[^()]*?>)?\()\s*(?:\{\s*\.\.\.|await\s+)?`)
	rootName  = lazyregexp.New(`^[\w$]+`)
	transport = lazyregexp.New(`\btransport\s*[:=]\s*(?:[^,;{}()=\n]*\?\s*)?(?:[\w$]+\.)*Transport\.(?P<name>\w+)`)
	// beforeOptions is the declaration of options.
	beforeOptions = lazyregexp.New(`\b(?:const|let|var|function|get|static|readonly)\s+(?P<name>[\w$]+)`)
	// hasOtherOptions matches a call with some options that are written elsewhere.
	hasOtherOptions = lazyregexp.New(`\boptions\s*(?::\s*[^{\s]|[,}\n])|\.\.\.`)
	urlOption       = lazyregexp.New(`\burl\b`)
	grpcServer      = lazyregexp.New(midwaySettings)
)

const (
	midwaySettings = `\bgrpcServer\s*[:=]\s*\{`
	// maxListed is how many calls, transports or options of a source are read.
	maxListed = 64
	// maxOptions is how many bytes before the transport the options of a microservice may begin.
	maxOptions = 2000
)

// dropClients blanks the options of clients of NestJS, which look like options of servers.
func (p *pass) dropClients() {
	for _, m := range p.FindAll(clientCall, maxListed) {
		_, all := p.Arguments(m[1])
		source.Blank(p.Code[all.From:all.To])
	}
}

// findNestJS reports the microservices of NestJS and their options. A call makes a microservice if its options name
// Transport.GRPC. If the call has only the name of options, [microservices.decide] looks for them.
func (p *pass) findNestJS() {
	var calls []source.Span
	for _, m := range p.FindAll(microserviceCall, maxListed) {
		_, call := p.Arguments(m[1])
		call.From = m[0]
		calls = append(calls, call)
		code := p.Slice(call)
		of := transport.FindStringSubmatch(code)
		switch {
		case of != nil && of[1] == "GRPC":
			p.found = append(p.found, finding.Constructs(nestJS)(finding.At(p.Text, call), ""))
			if hasOtherOptions.MatchString(code) { // credentials may be among them
				p.found = append(p.found, finding.UsesOther(finding.At(p.Text, call).Quiet(), ""))
			} else if !urlOption.MatchString(code) {
				p.found = append(p.found, analyzer.DefaultListener(frameworks, nestJS, p.Line(m[0]))...)
			}
		case of == nil && !strings.Contains(code, "strategy"):
			name := string(rootName.Find(p.Code[m[1]:call.To]))
			if e, ok := p.imports[name]; ok {
				name = e.name
			}
			p.found = append(p.found, nestServer{finding.At(p.Text, call), name})
		}
	}
	if p.Matches(clientType) {
		return
	}
	for _, m := range p.FindAll(transport, maxListed) {
		if slices.ContainsFunc(calls, func(c source.Span) bool { return c.Contains(m[0]) }) {
			continue
		}
		at := source.Span{From: m[0], To: m[1]}
		options := nestOptions{Site: finding.At(p.Text, at).Quiet(), isGRPC: p.Slice(at)[m[2]-m[0]:] == "GRPC"}
		if all := beforeOptions.FindAllSubmatch(p.Code[max(0, m[0]-maxOptions):m[0]], -1); all != nil {
			options.name = string(all[len(all)-1][1])
		}
		p.found = append(p.found, options)
	}
}
