package erlang

import (
	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// declarationPatterns are macros and variables. A comparison (=:=, =<) has no space behind the equals sign.
	declarationPatterns = []*lazyregexp.Regexp{
		lazyregexp.New(`(?m)^\s*-define\s*\(\s*(?P<name>\w+)\s*,\s*`),
		lazyregexp.New(`\b(?P<name>[A-Z_]\w*)\s*=\s+`),
		lazyregexp.New(`\b(?P<name>[A-Z_]\w*)=(?P<value>\d+)\b`),
	}
	listenOpts = lazyregexp.New(`\blisten_opts\s*(?:=>|,)\s*`)
	option     = lazyregexp.New(`^(port|ip)\s*=>\s*`)
	// childSpec is a call with listen_opts as the third argument.
	childSpec = lazyregexp.New(`\bgrpcbox:server_child_spec\s*\(`)
	// serverMap opens the map of a server. The options may come in any order.
	serverMap = lazyregexp.New(`(?:\bservers\s*,\s*\[|\bstart_(?:server|child)\s*\()\s*#\{`)
	// releaseVariable is an environment variable in a sys.config.src, with or without a default. relx inserts the value
	// at the start of the release.
	releaseVariable = lazyregexp.New(`^\$\{(\w+)(?::-(\d+))?\}$`)
)

func namesIn(t *source.Text) *address.Names { return address.Read(t, ",.", declarationPatterns...) }

// grpcboxListeners returns the listeners of grpcbox that a text starts or configures.
func grpcboxListeners(names *address.Names) []finding.Finding {
	t := names.Text
	var found []finding.Finding
	for _, m := range t.FindAll(listenOpts, maxServers) {
		found = append(found, listened(names, source.Span{From: m[1], To: t.Until(m[1], ",")})...)
	}
	for _, m := range t.FindAll(childSpec, maxServers) {
		if options, ok := t.Argument(m[1], 2); ok {
			found = append(found, listened(names, options)...)
		}
	}
	for _, m := range t.FindAll(serverMap, maxServers) {
		_, all := t.Arguments(m[1])
		if code := t.Code[all.From:all.To]; grpcOpts.Match(code) && !listenOpts.Match(code) {
			found = append(found, analyzer.DefaultListener(frameworks, grpcbox, t.Line(m[0]))...)
		}
	}
	return found
}

const maxServers = 16

// listened returns the listener in the listen_opts of grpcbox. Other options have numbers too.
func listened(names *address.Names, options source.Span) []finding.Finding {
	if options.Len() < 2 || names.Slice(source.Span{From: options.From, To: options.From + 2}) != "#{" {
		return []finding.Finding{finding.Listens(names.Address(options))}
	}
	each, _ := names.Arguments(options.From + 2)
	values := map[string]source.Span{}
	for _, o := range each {
		if m := option.FindStringSubmatchIndex(names.Slice(o)); m != nil {
			values[names.Slice(o)[:m[3]]] = source.Span{From: o.From + m[1], To: o.To}
		}
	}
	port, ok := values["port"]
	if !ok {
		return analyzer.DefaultListener(frameworks, grpcbox, names.Line(options.From))
	}
	a, why := names.AddressOn(values["ip"], port)
	if m := releaseVariable.FindStringSubmatch(names.Slice(port)); m != nil {
		a, why = address.ByDefault(address.Setting(m[2], names.Line(port.From)), m[1]), ""
	}
	if _, isHosted := values["ip"]; !isHosted {
		a.Host = address.AllInterfaces
	}
	return []finding.Finding{finding.Listens(a, why)}
}
