package node

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// expression is an expression up to a comma or the end of the line, outside of brackets.
const expression = `(?P<address>(?:[^,;{}()\[\]\n]|\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])+)`

// hostedArgument is a first argument with more than a port: the servers of frameworks listen on an address, so that a
// port is that of another server.
const hostedArgument = `\(\s*(?P<address>(?:["'` + "`" + `]|[\w$.]*(?i:addr|host|url|bind|listen|endpoint|grpc))` +
	`(?:[^,;(){}]|\([^()]*\))*)`

var (
	// listens say where servers of grpc-js and Dapr listen.
	listens = []analyzer.Listen{
		{Code: lazyregexp.New(`\.bindAsync\(`), Argument: 1},
		{Code: lazyregexp.New(`\.bind\(\s*` + expression + `\s*,\s*[\w$.]*(?:ServerCredentials\b|(?i:cred))`)},
		{
			Code:  lazyregexp.New(`\bserverPort\s*:\s*` + expression + `|\b(?P<address>serverPort)\s*[,}]`),
			Needs: lazyregexp.New(`\bDaprServer\(`),
		},
	}
	// frameworkListens say where those of frameworks do, and httpListens where HTTP servers do.
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
	// urls are the addresses among the options of NestJS and the settings of Midway.
	urls = []analyzer.Listen{{Code: lazyregexp.New(`\burl\s*:\s*` + expression + `|[{,]\s*(?P<address>url)\s*[,}]`)}}
)

// listeners returns where the servers listen that were found in a source.
func (p *pass) listeners() []finding.Finding {
	found := analyzer.Listeners(p.names(), listens)
	for s := range finding.All[finding.Server](p.found) {
		if rows := frameworkListens[s.Framework]; rows != nil {
			return append(found, analyzer.Listeners(p.names(), rows)...)
		}
	}
	if len(found) > 0 || !finding.Has[http2Server](p.found) {
		return found
	}
	for _, f := range analyzer.Listeners(p.names(), httpListens) {
		found = append(found, onlyFor{finding.AtLine(p.Line(finding.Offset(f)), ""), connectNode, f})
	}
	return found
}

var (
	assignment = lazyregexp.New(`(?m)(?:^|[;})])[ \t]*(?:(?:export|const|let|var|private|public|protected|` +
		`static|readonly)\s+)*(?:this\.|exports\.)?(?P<name>[A-Za-z_$][\w$]*)\s*(?:[?!]?:[^=;,(){}\n]{1,100})?=\s*`)
	// described is an option with its default, of parseArgs and convict: { type: 'string', default: '50051' }, and
	// inSchema a setting: z.coerce.number().default(50051).
	described = lazyregexp.New(`\b(?P<field>\w+)["']?\s*:\s*\{[^{}]*?\bdefault\s*:\s*(?P<value>[^,{}]*)`)
	inSchema  = lazyregexp.New(`\b(?P<field>\w+)["']?\s*:\s*[\w$.()\s]*\.default\((?P<value>[^()]*)\)`)
	// option is one of yargs and commander, whose default is a property or the last of three arguments.
	option = lazyregexp.New(`(?:\.(?:option|requiredOption)|\bnew\s+Option)\(\s*["'](?P<names> *)["']\s*` +
		`(?:,\s*\{[^{}]*?\bdefault\s*:\s*(?P<default>[^,{}]*)|` +
		`,\s*["'] *["']\s*,(?:[^(){};]*,)?\s*(?P<default>[^(),]*)\)|,|\))`)
	// longOption is the long name in the words of commander.
	longOption = lazyregexp.New(`--([\w-]+)|^([\w-]+)$`)
	// takesOut takes names out of an object, each with a default or without: const { PORT = 50051 } = process.env.
	takesOut = lazyregexp.New(`\{(?P<names>[^{}]*)\}\s*=\s*(?P<of>[\w$.]+)`)
	taken    = lazyregexp.New(`(?P<name>\w+)\s*(?::\s*\w+\s*)?(?:=\s*(?P<value>[^,{}]+))?`)
	fromArgs = lazyregexp.New(`(?i)\b(?:env|argv|args|opts|flags|program)\b`)
)

// names returns the names that a source declares. In a bundle many variables share one short name.
func (p *pass) names() *address.Names {
	if p.declared != nil {
		return p.declared
	}
	if p.declared = address.Read(p.Text, ";,\n"); p.isBundle {
		return p.declared
	}
	p.declared = address.Read(p.Text, ";,\n", assignment, described, inSchema)
	for _, m := range p.FindAll(option, maxListed) {
		names, _ := p.Group(option, m, "names")
		if long := longOption.FindStringSubmatch(names); long != nil {
			p.declared.DeclareOption(address.Field(camelCase(long[1]+long[2])), "", p.span(option, m, "default"))
		}
	}
	p.declareTaken()
	return p.declared
}

// declareTaken declares what the environment or the command line gives by names.
func (p *pass) declareTaken() {
	for _, m := range p.FindAll(takesOut, maxListed) {
		for _, t := range taken.FindAllSubmatchIndex(p.Code[m[2]:m[3]], maxListed) {
			name, value := string(p.Code[m[2]+t[2]:m[2]+t[3]]), source.Span{From: m[1], To: m[1]}
			if t[4] >= 0 {
				value = source.Span{From: m[2] + t[4], To: m[2] + t[5]}
			}
			switch of := string(p.Code[m[4]:m[5]]); {
			case of == "process.env":
				p.declared.DeclareOption(name, name, value)
			case fromArgs.MatchString(of) && t[4] >= 0 || p.declared.Values(name, m[0]) != nil:
				p.declared.DeclareOption(name, "", value)
			}
		}
	}
}

// span returns the part that a group took, or an empty one behind the match.
func (p *pass) span(pattern *lazyregexp.Regexp, match []int, group string) source.Span {
	for i, name := range pattern.SubexpNames() {
		if name == group && match[2*i] >= 0 {
			return source.Span{From: match[2*i], To: match[2*i+1]}
		}
	}
	return source.Span{From: match[1], To: match[1]}
}

var dashed = lazyregexp.New(`-+(\w)`)

// camelCase returns the property that yargs and commander make of an option: --grpc-port is grpcPort.
func camelCase(option string) string {
	return dashed.ReplaceAllStringFunc(option, func(part string) string { return strings.ToUpper(part[len(part)-1:]) })
}
