package jvm

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// authenticating is an interceptor that asks calls for a token, by its name.
const authenticating = `(?P<name>\w*` +
	`(?:[aA]uth(?:[eE]n|[oO]ri[sz]|[A-Z_]|\b)|[jJ](?:wt|WT)|[tT]oken|[aA]pi_?[kK]ey|[cC]redential)\w*)`

var (
	// globalInterceptor is an interceptor of all services, its class or the method that makes it, of Spring gRPC,
	// net.devh, LogNet and Quarkus.
	globalInterceptor = lazyregexp.New(`@(?:GlobalServerInterceptor|GrpcGlobalServerInterceptor|` +
		`GRpcGlobalInterceptor|GlobalInterceptor)\b[^{};]*(?:\{[^{};]*)?\b` + authenticating + `\b`)
	// intercepts gives an interceptor to a builder.
	intercepts = lazyregexp.New(onBuilder + `intercept\s*\(\s*(?:new\s+)?(?:[\w.]*\.)?` + authenticating + `\b`)
	// asksAll are rules for all calls, of Spring gRPC, LogNet and net.devh.
	asksAll = lazyregexp.New(`\b(?:(?:allRequests|anyMethod)\s*\(\s*\)\s*\.\s*|` +
		`setDefault\s*\(\s*(?:AccessPredicate\s*\.\s*)?)` +
		`(?P<name>authenticated|fullyAuthenticated|hasA\w+|hasRole\w*|denyAll)\b`)
	grpcSecurity = lazyregexp.New(`\bGrpcSecurity\w*\b`)
	// interceptorClass is the class of an interceptor.
	interceptorClass = lazyregexp.New(`\b(?:class|object)\s+(?P<name>\w+)[^{};]*\bServerInterceptor\b`)
	// asks are in all sources that have one of these.
	asks = source.NewKeywords("ntercept", "GrpcSecurity")
	// exempts is in code or a string of what lets some calls pass, those of the health service among them.
	exempts = lazyregexp.New(`(?i)health|"grpc\.[*]`)
)

// authentication is an interceptor that asks all calls for a token, by the name of its class or its object in lower
// case.
type authentication struct {
	*finding.Site
	class string
}

// exemption is the class of an interceptor that lets checks of health pass, in lower case.
type exemption struct {
	*finding.Site
	class string
}

// authentications returns what asks all calls of the servers of a source for a token, and what exempts health.
func (n *names) authentications() []finding.Finding {
	if !asks.In(n.text.Code) {
		return nil
	}
	isExempt := n.exemptsHealth()
	var found []finding.Finding
	for _, m := range n.text.FindAll(interceptorClass, maxMembers) {
		if class, _ := n.text.Group(interceptorClass, m, "name"); isExempt {
			found = append(found, exemption{finding.AtLine(n.text.Line(m[0]), ""), strings.ToLower(class)})
		}
	}
	add := func(pattern *lazyregexp.Regexp, holds func(at int) bool) {
		for _, m := range n.text.FindAll(pattern, maxMembers) {
			name, _ := n.text.Group(pattern, m, "name")
			if i := pattern.SubexpIndex("name"); holds(m[0]) {
				at := finding.At(n.text, source.Span{From: m[2*i], To: m[2*i+1]})
				found = append(found, authentication{at, strings.ToLower(name)})
			}
		}
	}
	add(globalInterceptor, func(int) bool { return !isExempt })
	add(intercepts, n.mayBeServers) // a source that makes a server names the health service for that
	add(asksAll, func(int) bool { return !isExempt && n.text.Matches(grpcSecurity) })
	return found
}

// exemptsHealth reports whether a source names the health service, or all services of gRPC's own.
func (n *names) exemptsHealth() bool {
	if exempts.Match(n.text.Code) {
		return true
	}
	for _, m := range anyLiteral.FindAllIndex(n.text.Code, maxValues) {
		if exempts.Match(n.text.Raw[m[0]:m[1]]) {
			return true
		}
	}
	return false
}
