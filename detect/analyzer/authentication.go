package analyzer

import (
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// denies is the status for a call without a token, or with one that does not suffice.
	denies = lazyregexp.New(`(?i)\bun_?authenticated\b|\bpermission_?denied\b|_UNAUTHENTICATED\b|_PERMISSION_DENIED\b`)
	// namesHealth is in the code or a string of what lets checks of health pass.
	namesHealth = lazyregexp.New(`(?i)health`)
	// interceptorMade makes an interceptor, which may be told the status.
	interceptorMade = lazyregexp.New(`\b(?P<name>\w*Interceptor)\s*\(`)
)

// Authentications returns the interceptors of the servers of a text that answer calls UNAUTHENTICATED or
// PERMISSION_DENIED, unless they name the health service. A match of head begins a class or a function whose body is
// indented more; it ends with an opening bracket, or with the line. One of servers matches server.
func Authentications(t *source.Text, head, server *lazyregexp.Regexp) []finding.Finding {
	var found []finding.Finding
	add := func(pattern *lazyregexp.Regexp, m []int, body source.Span) {
		asks := denies.Match(t.Code[body.From:body.To]) && !namesHealth.Match(t.Raw[body.From:body.To])
		if i := 2 * pattern.SubexpIndex("name"); asks {
			at := finding.At(t, source.Span{From: m[i], To: m[i+1]})
			found = append(found, finding.Authentication{Site: at, OfAll: true})
		}
	}
	for _, m := range t.FindAll(head, maxClasses) {
		end := m[1]
		if t.Code[end-1] == '(' {
			_, parameters := t.Arguments(end)
			end = parameters.To
		}
		body := source.Span{From: m[0], To: t.BodyEnd(end)}
		if server.Match(t.Code[body.From:body.To]) {
			add(head, m, body)
		}
	}
	for _, m := range t.FindAll(interceptorMade, maxClasses) {
		_, arguments := t.Arguments(m[1])
		add(interceptorMade, m, arguments)
	}
	return found
}
