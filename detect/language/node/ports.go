package node

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// expression is an expression up to a comma or the end of the line, outside of brackets.
const expression = `(?P<address>(?:[^,;{}()\[\]\n]|\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])+)`

// hostedArgument is a first argument with more than a port. The servers of frameworks listen on an address, so a bare
// port belongs to another server.
const hostedArgument = `\(\s*(?P<address>(?:["'` + "`" + `]|[\w$.]*(?i:addr|host|url|bind|listen|endpoint|grpc))` +
	`(?:[^,;(){}]|\([^()]*\))*)`

var (
	// listens are the listeners of grpc-js and Dapr.
	listens = []analyzer.Listen{
		{Code: lazyregexp.New(`\.bindAsync\(`), Argument: 1},
		{Code: lazyregexp.New(`\.bind\(\s*` + expression + `\s*,\s*[\w$.]*(?:ServerCredentials\b|(?i:cred))`)},
		{
			Code:  lazyregexp.New(`\bserverPort\s*:\s*` + expression + `|\b(?P<address>serverPort)\s*[,}]`),
			Needs: lazyregexp.New(`\bDaprServer\(`),
		},
	}
	// frameworkListens are the listeners of the frameworks by name, and httpListens the listeners of HTTP servers.
	frameworkListens = map[string][]analyzer.Listen{
		niceGRPC: {{Code: lazyregexp.New(`\.listen` + hostedArgument)}},
		grpcKit:  {{Code: lazyregexp.New(`\.listen` + hostedArgument)}},
		mali:     {{Code: lazyregexp.New(`\.start` + hostedArgument)}},
	}
	httpListens = []analyzer.Listen{
		{Code: lazyregexp.New(`\.listen\(\s*(?P<address>[^\s{,()][^,(){}]*(?:\([^()]*\))?)`)},
		{Code: lazyregexp.New(`\.listen\(\s*\{[^{}]*?\bport\s*:\s*` + expression)},
		{Code: lazyregexp.New(`\.listen\(\s*\{[^{}:]*?\b(?P<address>port)\s*[,}]`)},
	}
	// nestListens are the listeners of NestJS' microservices, and midwayListens the listeners in the settings of
	// Midway.
	nestListens = []analyzer.Listen{
		{Code: lazyregexp.New(`\bTransport\.GRPC\b[^;]{0,400}?[{,]\s*url\s*:\s*` + expression)},
	}
	midwayListens = []analyzer.Listen{
		{Code: lazyregexp.New(midwaySettings + `(?:[^{}]|\{[^{}]*\})*?\burl\s*:\s*` + expression)},
	}
)

// listeners returns the listeners of the servers in p.found.
func (p *pass) listeners() []finding.Finding {
	found := slices.Concat(analyzer.Listeners(p.names(), listens), analyzer.Listeners(p.names(), nestListens))
	for s := range finding.All[finding.Server](p.found) {
		if rows := frameworkListens[s.Framework]; rows != nil {
			return append(found, analyzer.Listeners(p.names(), rows)...)
		}
	}
	for _, m := range p.FindAll(grpcServer, 1) {
		settings := analyzer.Listeners(p.names(), midwayListens)
		if settings == nil && !p.Matches(urlOption) {
			settings = analyzer.DefaultListener(frameworks, midway, p.Line(m[0]))
		}
		found = append(found, p.onlyFor(midway, settings)...)
	}
	if len(found) == 0 && finding.Has[http2Server](p.found) {
		return p.onlyFor(connectNode, analyzer.Listeners(p.names(), httpListens))
	}
	return found
}

// onlyFor returns findings that count in a project with servers of a framework.
func (p *pass) onlyFor(framework string, all []finding.Finding) []finding.Finding {
	for i, f := range all {
		all[i] = onlyFor{finding.AtLine(finding.Where(f).Line, ""), framework, f}
	}
	return all
}

var (
	assignment = lazyregexp.New(`(?m)(?:^|[;})])[ \t]*(?:(?:export|const|let|var|private|public|protected|` +
		`static|readonly)\s+)*(?:this\.|exports\.)?(?P<name>[A-Za-z_$][\w$]*)\s*(?:[?!]?:[^=;,(){}\n]{1,100})?=\s*`)
	// options have a default: of parseArgs, convict and yargs, { port: { default: 50051 } }, of yargs' method option,
	// and of a schema, z.coerce.number().default(50051).
	options = []*lazyregexp.Regexp{
		lazyregexp.New(`\b(?P<field>\w+)["']?\s*:\s*\{[^{}]*?\bdefault\s*:\s*(?P<value>[^,{}]*)`),
		lazyregexp.New(`\.option\(\s*["'](?P<field> *)["']\s*,\s*\{[^{}]*?\bdefault\s*:\s*(?P<value>[^,{}]*)`),
		lazyregexp.New(`\b(?P<field>\w+)["']?\s*:\s*[\w$.()\s]*\.default\((?P<value>[^()]*)\)`),
	}
	// takesOut takes names out of an object, each with or without a default: const { PORT = 50051 } = process.env.
	takesOut = lazyregexp.New(`\{(?P<names>[^{}]*)\}\s*=\s*(?P<of>[\w$.]+)`)
	taken    = lazyregexp.New(`(?P<name>\w+)\s*(?::\s*\w+\s*)?(?:=\s*(?P<value>[^,{}]+))?`)
)

// names returns the names that a source declares, without assignments in a bundle: many variables share a short name.
func (p *pass) names() *address.Names {
	if p.declared != nil {
		return p.declared
	}
	if p.declared = address.Read(p.Text, ";,\n"); p.isBundle {
		return p.declared
	}
	p.declared = address.Read(p.Text, ";,\n", assignment)
	for _, pattern := range options {
		for _, m := range p.FindAll(pattern, maxListed) {
			field, _ := p.Group(pattern, m, "field")
			p.declared.DeclareOption(address.Field(field), "", source.Span{From: m[4], To: m[5]})
		}
	}
	p.declareTaken()
	return p.declared
}

// declareTaken declares the names taken out of the environment, with their defaults, or out of an object.
func (p *pass) declareTaken() {
	for _, m := range p.FindAll(takesOut, maxListed) {
		for _, t := range taken.FindAllSubmatchIndex(p.Code[m[2]:m[3]], maxListed) {
			name, variable, value := string(p.Code[m[2]+t[2]:m[2]+t[3]]), "", source.Span{From: m[1], To: m[1]}
			if string(p.Code[m[4]:m[5]]) == "process.env" {
				variable = name
				if t[4] >= 0 {
					value = source.Span{From: m[2] + t[4], To: m[2] + t[5]}
				}
			}
			p.declared.DeclareOption(name, variable, value)
		}
	}
}
