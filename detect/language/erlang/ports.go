package erlang

import (
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	// declarationPatterns are macros and variables. A comparison (=:=, =<) has no space behind its equals sign.
	declarationPatterns = []*regexp.Regexp{
		regexp.MustCompile(`(?m)^\s*-define\s*\(\s*(?P<name>\w+)\s*,\s*`),
		regexp.MustCompile(`\b(?P<name>[A-Z_]\w*)\s*=\s+`),
		regexp.MustCompile(`\b(?P<name>[A-Z_]\w*)=(?P<value>\d+)\b`),
	}
	listenOpts = regexp.MustCompile(`\blisten_opts\s*(?:=>|,)\s*`)
	portOption = regexp.MustCompile(`^port\s*=>\s*`)
	// childSpec is the call whose third argument are the listen_opts.
	childSpec = regexp.MustCompile(`\bgrpcbox:server_child_spec\s*\(`)
	// serverMap opens the map of a server, whose options may come in any order.
	serverMap = regexp.MustCompile(`(?:\bservers\s*,\s*\[|\bstart_(?:server|child)\s*\()\s*#\{`)
	// releaseVariable is a variable of the environment in a sys.config.src, with a default, which relx puts in when the
	// release starts.
	releaseVariable = regexp.MustCompile(`^\$\{\w+:-(\d+)\}$`)
)

func namesIn(t *source.Text) *address.Names { return address.Read(t, ",.", declarationPatterns...) }

// grpcboxListeners returns the addresses of the servers of grpcbox that a text starts or configures.
func grpcboxListeners(t *source.Text) []finding.Finding {
	names := namesIn(t)
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
	for _, option := range each {
		name := portOption.FindStringIndex(names.Slice(option))
		if name == nil {
			continue
		}
		value := source.Span{From: option.From + name[1], To: option.To}
		if m := releaseVariable.FindStringSubmatchIndex(names.Slice(value)); m != nil {
			value = source.Span{From: value.From + m[2], To: value.From + m[3]}
		}
		return []finding.Finding{finding.ListenerAt(names.Value(value))}
	}
	return analyzer.DefaultListener(frameworks, grpcbox, names.Line(options.From))
}
