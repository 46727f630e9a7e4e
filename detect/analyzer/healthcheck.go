package analyzer

import (
	"bytes"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var (
	// checkHead matches the beginning of a function that may implement Check of grpc.health.v1, up to the parameters.
	// checkAlone matches a function without parameters, as in a controller of gruf.
	checkHead  = lazyregexp.New(`\b[cC]heck\s*(?P<assigned>[:=]\s*(?:async\s*)?(?:function\b\s*\w*\s*)?)?\(`)
	checkAlone = lazyregexp.New(`(?m)^[ \t]*def\s+check[ \t]*$`)
	// isDef matches the text before a function name in languages with optional braces or none.
	isDef = lazyregexp.New(`\bdef\s+$`)
	// ofObject matches the text before the name in a method call.
	ofObject = lazyregexp.New(`(?:\.|->)$`)
	// isExpression matches the start of an expression body in C#, Dart or JavaScript, opensBody the text from the
	// parameters to a body in braces, and endsHead the end of a function without a body.
	isExpression = lazyregexp.New(`^\)\s*=>\s*[^{\s]`)
	opensBody    = lazyregexp.New(`^\)[^;{}]{0,300}\{`)
	endsHead     = lazyregexp.New(`^\)[^{}=\n]{0,200};`)
	healthFile   = lazyregexp.New(`[gG]rpc.{0,3}[hH]ealth|health_pb2|[hH]ealth(?:\.|/|::)[vV]1|HealthCheckRe`)
	// askedName matches a read of the name in a request, and helper a call with the name.
	askedName = lazyregexp.New(`\b(?:getService|[sS]ervice(?:Name|_name)?)\b`)
	helper    = lazyregexp.New(`\b(?P<name>[A-Za-z_]\w*)[?!]?\(\s*[^(){};]{0,80}\b(?:[sS]ervice|getService\()`)
	// doesNotKnow matches an answer for an unknown name.
	doesNotKnow = lazyregexp.New(`(?i)(?:\b|_)not_?found\b|(?:\b|_)(?:service_?)?unknown(?:_?service)?\b`)
	// asksForEmpty matches a comparison with the name of the whole server, or a replacement for an empty name.
	asksForEmpty = lazyregexp.New(
		`(?i)\bis_?(?:null_?or_?)?(?:empty|blank|white_?space)\b|\.empty\b|\bblank\?|\bnil\?|` +
			`(?:\bnot\s+|!)(?:\w+\s*(?:\.|->)\s*)*(?:getService|service(?:_?name)?)(?:\(\))?\s*(?:[)&|:{?\n]|then\b)|` +
			`service(?:_?name)?(?:\(\))?\s*(?:\|\||\?\?|\bor\b|===?\s*(?:nil|null|undefined|none)\b)|` +
			`\.(?:length|size|len)\b(?:\(\))?\s*(?:===?|>)\s*0|\b(?:unless|if)\s+\(?\w*\.?service\)?\s*[:{\n]`)
	// emptyLiteral matches the literal name of the whole server. Outside of a body, the line must also match
	// aboutNames.
	emptyLiteral = lazyregexp.New(`(?:^|[^"])""(?:[^"]|$)|(?:^|[^'])''(?:[^']|$)|` + "``")
	aboutNames   = lazyregexp.New(`(?i)serv|status|known|health|^\s*(?:""|'')\s*(?:,?\s*$|=>|->|:)`)
	// equalBefore and equalAfter match a comparison beside a literal, and armBefore and armAfter an arm beside a
	// literal. branches matches the head of the arms, and heldIn a variable with the name.
	equalBefore = lazyregexp.New(`(?:[!=]==?|\b(?:equals|eq)\()\s*$`)
	equalAfter  = lazyregexp.New(`^\s*(?:\.equals\(|[!=]==?)`)
	armBefore   = lazyregexp.New(`(?:\b(?:case|when)|\|)\s*$`)
	armAfter    = lazyregexp.New(`^\s*(?:->|=>|:|\|\s*["'])`)
	branches    = lazyregexp.New(`(?m)^.*(?:\b(?:switch|match)\b|\b(?:case|when)\s*[^"'\s:]).*$`)
	heldIn      = lazyregexp.New(`\b(?P<name>\w+)\s*(?::\s*\w+\s*)?:?=\s*[^=;\n]*` + askedName.String())
	literal     = lazyregexp.New(`"[ ]+"|'[ ]+'`)
)

// HealthChecks returns the implementation of Check of grpc.health.v1 in a text, or nothing. Several implementations
// count as one that knows the services of all.
func HealthChecks(t *source.Text) []finding.Finding {
	if !healthFile.Match(t.Raw) {
		return nil
	}
	var all []finding.HealthCheck
	for _, m := range t.FindAll(checkHead, maxChecks) {
		_, parameters := t.Arguments(m[1])
		if !isImplementation(t, m, parameters) {
			continue
		}
		body := source.Span{From: parameters.From, To: bodyEnd(t, m[0], parameters.To)}
		all = append(all, healthCheck(t, source.Span{From: m[0], To: m[1]}, body))
	}
	for _, m := range t.FindAll(checkAlone, 1) {
		at := source.Span{From: m[0], To: m[1]}
		all = append(all, healthCheck(t, at, source.Span{From: m[1], To: t.BodyEnd(m[1])}))
	}
	if len(all) == 0 {
		return nil
	}
	for _, other := range all[1:] {
		all[0].OfServer = all[0].OfServer || other.OfServer
		all[0].Services = append(all[0].Services, other.Services...)
	}
	return []finding.Finding{all[0]}
}

// maxChecks bounds the functions of a text that may be implementations of Check.
const maxChecks = 8

// bodyEnd returns the end of a function's body. name is the offset of the function's name, and parameters the end of
// its parameters.
func bodyEnd(t *source.Text, name, parameters int) int {
	after := t.Code[parameters:min(parameters+maxHead, len(t.Code))]
	if m := isExpression.FindIndex(after); m != nil {
		return t.Until(parameters+m[1], ";")
	}
	if open := opensBody.FindIndex(after); open != nil && !isAfter(t, isDef, name) {
		_, body := t.Arguments(parameters + open[1])
		return body.To
	}
	return t.BodyEnd(parameters)
}

// maxHead is the number of bytes after the parameters of a function within which the body begins.
const maxHead = 400

// isImplementation reports whether a match of checkHead begins a function with a body, and is no call.
func isImplementation(t *source.Text, head []int, parameters source.Span) bool {
	_, isAssigned := t.Group(checkHead, head, "assigned")
	if !isAssigned && isAfter(t, ofObject, head[0]) {
		return false
	}
	after := t.Code[parameters.To:min(parameters.To+maxHead, len(t.Code))]
	if endsHead.Match(after) {
		return false
	}
	isTyped := bytes.Contains(t.Code[parameters.From:parameters.To], []byte("HealthCheckRequest"))
	return isTyped || isAfter(t, isDef, head[0]) || opensBody.Match(after)
}

// isAfter reports whether a pattern matches the text right before an offset, at most maxBeside bytes.
func isAfter(t *source.Text, pattern *lazyregexp.Regexp, at int) bool {
	return pattern.Match(t.Code[max(0, at-maxBeside):at])
}

// maxBeside is the number of bytes before or after a name or a literal that tell its role.
const maxBeside = 40

// healthCheck reads the body of an implementation of Check, and the functions that get the name from the body.
func healthCheck(t *source.Text, at, body source.Span) finding.HealthCheck {
	check := finding.HealthCheck{Site: finding.At(t, at).Quiet()}
	code := t.Code[body.From:body.To]
	bodies := []source.Span{body}
	if !askedName.Match(code) {
		check.OfServer = true
		return check
	}
	for _, m := range helper.FindAllSubmatch(code, maxHelpers) {
		bodies = append(bodies, bodyOf(t, string(m[1]), body)...)
	}
	isIn := func(pattern *lazyregexp.Regexp) bool {
		return slices.ContainsFunc(bodies, func(s source.Span) bool { return pattern.Match(t.Code[s.From:s.To]) })
	}
	if !isIn(doesNotKnow) || isIn(asksForEmpty) || namesServer(t, bodies) {
		check.OfServer = true
		return check
	}
	for _, s := range bodies {
		check.Services = append(check.Services, namesIn(t, s)...)
	}
	return check
}

// maxHelpers bounds the functions that get the name from a Check.
const maxHelpers = 4

// bodyOf returns the body of a function of the text, outside of a span.
func bodyOf(t *source.Text, name string, in source.Span) []source.Span {
	for at := range t.Words(name) {
		open := at + len(name)
		if in.Contains(at) || open >= len(t.Code) || t.Code[open] != '(' {
			continue
		}
		_, parameters := t.Arguments(open + 1)
		body := source.Span{From: parameters.To, To: t.BodyEnd(parameters.To)}
		if bytes.Count(t.Code[body.From:body.To], []byte("\n")) > 1 {
			return []source.Span{body}
		}
	}
	return nil
}

// namesServer reports whether a literal in a source names the whole server: in a body, or among names elsewhere.
func namesServer(t *source.Text, bodies []source.Span) bool {
	for _, m := range t.FindAll(emptyLiteral, -1) {
		line := t.LineCode(t.LogicalLine(m[0] + 1))
		if aboutNames.Match(line) || slices.ContainsFunc(bodies, func(s source.Span) bool { return s.Contains(m[0]) }) {
			return true
		}
	}
	return false
}

// namesIn returns the literals in a span that are compared with the name of a request.
func namesIn(t *source.Text, in source.Span) []string {
	code := t.Code[in.From:in.To]
	held := heldIn.FindAllSubmatch(code, maxHelpers)
	asks := func(line []byte) bool {
		has := func(m [][]byte) bool { return bytes.Contains(line, m[1]) }
		return askedName.Match(line) || slices.ContainsFunc(held, has)
	}
	hasArms := slices.ContainsFunc(branches.FindAll(code, maxClasses), asks)
	var names []string
	for _, m := range literal.FindAllIndex(code, maxClasses) {
		from, to := in.From+m[0], in.From+m[1]
		after := t.Code[to:min(to+maxBeside, in.To)]
		isEqual := (isAfter(t, equalBefore, from) || equalAfter.Match(after)) && asks(t.LineCode(t.LogicalLine(from)))
		isArm := hasArms && (isAfter(t, armBefore, from) || armAfter.Match(after))
		if name := string(t.Raw[from+1 : to-1]); (isEqual || isArm) && plan.IsServiceName(name) {
			names = append(names, name)
		}
	}
	return names
}
