package node

import (
	"bytes"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	microserviceCall = lazyregexp.New(`\b(?:create|connect)Microservice\s*(?:<[^()]*?>)?\(`)
	transport        = lazyregexp.New(`\bTransport\.(?P<name>\w+)`)
	// nestClientCall takes the options of a client.
	nestClientCall = lazyregexp.New(`\bClientsModule\.register(?:Async)?\(|@Client\(|` +
		`\bClientProxyFactory\.create\(|\bnew\s+(?:[\w$]+\.)*ClientGrpc(?:Proxy)?\(`)
	// nestClientType is a type of options that only a client has. ClientOptions is not one: a sample of NestJS itself
	// serves with them.
	nestClientType = lazyregexp.New(`\bClients?(?:ModuleOptionsFactory|` +
		`Provider\w*Options|ProvidersModuleOptions|ModuleOptions|Provider)\b`)
	// beforeCompared is a text after which a value stands that is only compared.
	beforeCompared  = lazyregexp.New(`(?:\bcase|==)\s*(?:[\w$]+\.)*$`)
	urlProperty     = lazyregexp.New(`\burl\s*:\s*`)
	packageProperty = lazyregexp.New(`\bpackage\s*:\s*`)
	// statedPackages are names of packages: strings, and the constants that ts-proto generates.
	statedPackages = source.Exactly(`\[?(?:\s*(?:["'] *["']|(?:\w+\.)*\w+_PACKAGE_NAME)\s*,?)+\s*\]?`)
	// healthPackage is the name of the package of the health service: a string, or the constant that ts-proto
	// generates.
	healthPackage = lazyregexp.New(`["'](?P<name> *)["']|\bGRPC_HEALTH_V1_PACKAGE_NAME\b`)
)

// maxStrings is how many strings of a source are looked at for the name of the package.
const maxStrings = 2000

// maxComparison is how many bytes before a value are searched for a comparison.
const maxComparison = 60

// findNestJS reports the microservices of NestJS: calls that make one, if their options, or others in the file, name
// Transport.GRPC.
func (p *pass) findNestJS() {
	if !bytes.Contains(p.Code, []byte("Transport.")) && !bytes.Contains(p.Code, []byte("Microservice")) {
		return
	}
	clients := p.calls(nestClientCall)
	servers := p.calls(microserviceCall)
	grpc, others := p.transports(clients)
	var unknown []source.Span
	for _, server := range servers {
		switch {
		case anyWithin(grpc, server):
			p.reportNestServer(server)
		case !anyWithin(others, server) && !strings.Contains(p.Slice(server), "strategy"):
			unknown = append(unknown, server)
		}
	}
	elsewhere := outside(grpc, servers)
	unknown = p.withoutNames(unknown, elsewhere, outside(others, servers))
	switch {
	case len(unknown) > 0 && len(elsewhere) > 0:
		p.report(finding.Constructs(nestJS), unknown[0])
	case len(outside(others, servers)) == 0 && !p.bundled:
		for _, server := range unknown[:min(len(unknown), address.MaxListeners)] {
			module, name := p.importedOptions(server)
			p.found = append(p.found, nestServer{finding.At(p.Text, server), module, name})
		}
	}
	p.reportTransports(false, outside(others, servers))
	p.reportNestOptions(elsewhere)
	if len(grpc) > 0 {
		p.findNestHealth(clients)
	}
}

// beforeOptions is what may stand before the name of options: a spread in an object of its own, a type.
var beforeOptions = lazyregexp.New(`^(?:\{?\s*\.\.\.|await\s+)`)

// optionsName returns the name that the options of a microservice have, if the call is not given the options
// themselves, and its offset.
func (p *pass) optionsName(call source.Span) (string, int) {
	open := microserviceCall.FindIndex(p.Code[call.From:call.To])
	if open == nil {
		return "", 0
	}
	each, _ := p.Arguments(call.From + open[1])
	options := each[0]
	if len(each) > 1 && bytes.HasPrefix(p.Code[call.From:], []byte("create")) {
		options = each[1]
	}
	if m := beforeOptions.FindIndex(p.Code[options.From:options.To]); m != nil {
		options.From += m[1]
	}
	m := aliasHead.FindSubmatch(p.Code[options.From:options.To])
	if m == nil {
		return "", 0
	}
	return string(m[1]), options.From
}

// importedOptions returns the module of the app that the options of a microservice come from, and their name there; ""
// if the file does not say.
func (p *pass) importedOptions(call source.Span) (module, name string) {
	name, at := p.optionsName(call)
	root, rest, _ := strings.Cut(name, ".")
	if e, ok := p.Imports[root]; ok && mayBeOwnModule(e.Module) {
		return e.Module, strings.Trim(e.Name+"."+rest, ".")
	}
	return p.moduleOf(root, at), ""
}

// withoutNames returns the microservices whose options are not a variable of this file for another transport.
func (p *pass) withoutNames(servers, grpc, others []source.Span) []source.Span {
	if len(others) == 0 {
		return servers
	}
	isGRPC, isOther := map[string]bool{}, map[string]bool{}
	for _, at := range grpc {
		isGRPC[p.nameAround(at.From)] = true
	}
	for _, at := range others {
		isOther[p.nameAround(at.From)] = true
	}
	var left []source.Span
	for _, server := range servers {
		if name, _ := p.optionsName(server); name == "" || !isOther[name] || isGRPC[name] {
			left = append(left, server)
		}
	}
	return left
}

// nameAround returns the name of the last variable, field or function that begins before an offset.
func (p *pass) nameAround(at int) string {
	name, begin := "", -1
	for _, a := range p.Assigned() {
		if a.At < at && a.At > begin {
			name, begin = a.Name, a.At
		}
	}
	return name
}

// reportTransports reports options of microservices, each with the name of its variable.
func (p *pass) reportTransports(isGRPC bool, transports []source.Span) {
	for _, at := range transports[:min(len(transports), address.MaxListeners)] {
		p.found = append(p.found, nestOptions{finding.At(p.Text, at).Quiet(), p.nameAround(at.From), isGRPC})
	}
}

// calls returns the calls that a pattern matches up to their opening bracket, from their names to their closing
// brackets.
func (p *pass) calls(pattern *lazyregexp.Regexp) []source.Span {
	var spans []source.Span
	for _, m := range p.FindAll(pattern, maxSettings) {
		_, all := p.Arguments(m[1])
		spans = append(spans, source.Span{From: m[0], To: all.To})
	}
	return spans
}

// transports returns where the file names Transport.GRPC and where it names other transports. It leaves out
// comparisons, and the options of clients.
func (p *pass) transports(clients []source.Span) (grpc, others []source.Span) {
	for _, m := range p.FindAll(transport, maxSettings) {
		if beforeCompared.Match(p.Code[max(0, m[0]-maxComparison):m[0]]) {
			continue
		}
		at := source.Span{From: m[0], To: m[1]}
		if p.Part(transport, m, "name") == "GRPC" {
			grpc = append(grpc, at)
		} else {
			others = append(others, at)
		}
	}
	return outside(grpc, clients), outside(others, clients)
}

// reportNestServer reports a microservice whose options are written in the call.
func (p *pass) reportNestServer(call source.Span) {
	p.report(finding.Constructs(nestJS), call)
	options, areAll := p.nestOptionsIn(call)
	p.reportNestCredentials(options, areAll)
	if url, ok := p.Property(options, urlProperty); ok {
		p.found = append(p.found, p.listener(url))
	} else if of := p.refersTo(p.Slice(options) + ".url"); !areAll && isDotted.MatchString(p.Slice(options)) &&
		of.Module != "" {
		v := address.Value{Names: []address.Name{of}}
		v.Place.Line = p.Line(options.From)
		p.found = append(p.found, finding.Listener{Site: finding.At(p.Text, options).Quiet(), Address: v})
	} else if areAll && !strings.Contains(p.Slice(call), "...") && !urlName.MatchString(p.Slice(options)) {
		for l := range finding.All[finding.Listener](analyzer.DefaultListener(frameworks, nestJS, p.Line(call.From))) {
			l.Site = finding.At(p.Text, call).Quiet()
			p.found = append(p.found, l)
		}
	}
}

// reportNestOptions reports options for gRPC that a variable or a function holds. transports are where they name the
// transport.
func (p *pass) reportNestOptions(transports []source.Span) {
	if len(transports) == 0 || nestClientType.Match(p.Code) {
		return
	}
	p.reportTransports(true, transports)
	for _, at := range transports {
		options, areAll := p.nestOptionsIn(p.objectAround(at.From))
		p.reportNestCredentials(options, areAll)
		if url, ok := p.Property(options, urlProperty); ok {
			p.found = append(p.found, p.listener(url))
		}
	}
}

// optionsProperty is the property of a microservice with the options of its transport, or its name alone.
var (
	optionsProperty = lazyregexp.New(`\boptions\s*(?P<value>:\s*)?(?:[,}]|[^\s,}])`)
	urlName         = lazyregexp.New(`\burl\b`)
)

// nestOptionsIn returns the options of the transport of a microservice, and whether these are all: an object literal,
// or a variable of the source that is one.
func (p *pass) nestOptionsIn(microservice source.Span) (options source.Span, areAll bool) {
	m := optionsProperty.FindSubmatchIndex(p.Code[microservice.From:microservice.To])
	if m == nil {
		return microservice, true
	}
	value := source.Span{From: microservice.From + m[0], To: microservice.From + m[0] + len("options")}
	if m[2] >= 0 {
		value = p.Element(microservice.From + m[3])
	}
	if values := p.variables().Values(p.Slice(value), value.From); len(values) == 1 {
		value = values[0]
	}
	open := value.From + 1
	if p.Code[value.From] != '{' {
		return value, false
	}
	_, options = p.Arguments(open)
	return options, len(p.spreadInto(value, open)) == 0
}

// objectAround returns what stands in the brackets around an offset.
func (p *pass) objectAround(at int) source.Span {
	_, open := p.Around(at, at-maxObject, "")
	_, all := p.Arguments(max(open+1, at-maxObject, 0))
	return all
}

// maxObject is how many bytes before the transport the options of a microservice may begin.
const maxObject = 2000

// findNestHealth reports the name of the package of the health service, which is among the options of a server if it
// is not among those of a client.
func (p *pass) findNestHealth(clients []source.Span) {
	var names []source.Span
	for _, m := range p.FindAll(healthPackage, maxStrings) {
		if name, isString := p.Group(healthPackage, m, "name"); !isString || name == "grpc.health.v1" {
			names = append(names, source.Span{From: m[0], To: m[1]})
		}
	}
	if names = outside(names, clients); len(names) > 0 {
		p.report(finding.RegistersHealth, names[0])
	} else {
		p.findOtherPackages(clients)
	}
}

// findOtherPackages reports the packages among the options of a server, if all are written there and none is that of
// the health service.
func (p *pass) findOtherPackages(clients []source.Span) {
	var all []source.Span
	for _, m := range p.FindAll(packageProperty, address.MaxListeners) {
		all = append(all, source.Span{From: m[0], To: m[1]})
	}
	all = outside(all, clients)
	for _, s := range all {
		if !statedPackages.MatchString(p.Slice(p.Element(s.To))) {
			return
		}
	}
	if len(all) > 0 {
		p.found = append(p.found, otherPackages{finding.At(p.Text, all[0]).Quiet()})
	}
}

// anyWithin reports whether one of the parts begins in a span.
func anyWithin(parts []source.Span, span source.Span) bool {
	return slices.ContainsFunc(parts, func(part source.Span) bool { return span.Contains(part.From) })
}

// outside returns the parts that begin in none of the spans.
func outside(parts, spans []source.Span) []source.Span {
	return slices.DeleteFunc(slices.Clone(parts), func(part source.Span) bool {
		return slices.ContainsFunc(spans, func(span source.Span) bool { return span.Contains(part.From) })
	})
}
