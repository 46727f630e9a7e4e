package erlang

import (
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// declarationPatterns are macros and variables. A comparison (=:=, =<) has no space after its equals sign.
	declarationPatterns = []*lazyregexp.Regexp{
		lazyregexp.New(`(?m)^\s*-define\s*\(\s*(?P<name>\w+)\s*,\s*`),
		lazyregexp.New(`\b(?P<name>[A-Z_]\w*)\s*=\s+`),
		lazyregexp.New(`\b(?P<name>[A-Z_]\w*)=(?P<value>\d+)\b`),
	}
	listenOpts = lazyregexp.New(`\blisten_opts\s*(?:=>|,)\s*`)
	option     = lazyregexp.New(`^(port|ip)\s*=>\s*`)
	// childSpec is the call whose third argument are the listen_opts.
	childSpec = lazyregexp.New(`\bgrpcbox:server_child_spec\s*\(`)
	// serverMap opens the map of a server, whose options may come in any order.
	serverMap = lazyregexp.New(`(?:\bservers\s*,\s*\[|\bstart_(?:server|child)\s*\()\s*#\{`)
	// releaseVariable is a variable of the environment in a sys.config.src, with a default or without. relx puts it in
	// when the release starts.
	releaseVariable = lazyregexp.New(`^\$\{(\w+)(?::-(\d+))?\}$`)
)

func namesIn(t *source.Text) *address.Names { return address.Read(t, ",.", declarationPatterns...) }

// grpcboxListeners returns the addresses of the servers of grpcbox that a text starts or configures.
func grpcboxListeners(names *address.Names) []finding.Finding {
	t := names.Text
	var found []finding.Finding
	for _, m := range t.FindAll(listenOpts, address.MaxListeners) {
		found = append(found, listened(names, source.Span{From: m[1], To: t.Until(m[1], ",")})...)
	}
	for _, m := range t.FindAll(childSpec, address.MaxListeners) {
		if options, ok := t.Argument(m[1], 2); ok {
			found = append(found, listened(names, options)...)
		}
	}
	for _, m := range t.FindAll(serverMap, address.MaxListeners) {
		_, all := t.Arguments(m[1])
		if code := t.Code[all.From:all.To]; grpcOpts.Match(code) && !listenOpts.Match(code) {
			found = append(found, analyzer.DefaultListener(frameworks, grpcbox, t.Line(m[0]))...)
		}
	}
	return found
}

// listened returns the listener that the listen_opts of grpcbox state. Other options have numbers too.
func listened(names *address.Names, options source.Span) []finding.Finding {
	if options.To-options.From < 2 || names.Slice(source.Span{From: options.From, To: options.From + 2}) != "#{" {
		return []finding.Finding{finding.ListenerAt(names.Value(options))}
	}
	each, _ := names.Arguments(options.From + 2)
	values := map[string]source.Span{}
	for _, o := range each {
		if m := option.FindStringSubmatchIndex(names.Slice(o)); m != nil {
			name := names.Slice(source.Span{From: o.From, To: o.From + m[3]})
			values[name] = source.Span{From: o.From + m[1], To: o.To}
		}
	}
	host, isHosted := values["ip"]
	port, ok := values["port"]
	if !ok {
		return analyzer.DefaultListener(frameworks, grpcbox, names.Line(options.From))
	}
	v := names.ValueOn(host, port)
	if m := releaseVariable.FindStringSubmatchIndex(names.Slice(port)); m != nil {
		v = released(names, port, m)
	}
	if !isHosted {
		v.Host = address.AllInterfaces
	}
	return []finding.Finding{finding.ListenerAt(v)}
}

// released returns the value of a variable of the environment, which matches in a span.
func released(names *address.Names, s source.Span, match []int) address.Value {
	v := names.Nothing(s.From)
	if match[4] >= 0 {
		v = names.Value(source.Span{From: s.From + match[4], To: s.From + match[5]})
		v.Certainty = min(v.Certainty, address.Default)
	}
	v.Variable, v.Outside = names.Slice(source.Span{From: s.From + match[2], To: s.From + match[3]}), true
	return v
}
