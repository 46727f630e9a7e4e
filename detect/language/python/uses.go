package python

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// use is how a source uses a name.
type use int

const (
	mentioned use = iota // it is passed on, for example to a helper that registers services
	called               // it is a function that is called or a class of which an instance is made
	inherited            // it is a base of a class
)

var (
	classBases = lazyregexp.New(`(?m)^[ \t]*class[ \t]+\w+[ \t]*\(`)
	// definedBefore matches what stands before a name that is defined and not used.
	definedBefore = lazyregexp.New(`\b(?:def|class)[ \t]+$`)
	callAfter     = lazyregexp.New(`^[ \t]*\(`)
)

// maxBeside is how many bytes before a name or after it say how it is used.
const maxBeside = 16

// findUses returns what the uses of names in a source prove.
func findUses(t *source.Text, i imports) []finding.Finding {
	var found []finding.Finding
	add := func(at source.Span, how use) {
		for _, full := range i.resolve(t.Slice(at)) {
			if r, ok := ruleFor(full, how); ok {
				if r.proves != nil && (r.unless == nil || !i.rest.Matches(r.unless)) {
					found = append(found, r.proves(finding.At(t, at), full))
				}
				return
			}
		}
	}
	code := i.rest.Code
	for _, m := range i.rest.FindAll(classBases, -1) {
		bases, all := i.rest.Arguments(m[1])
		for _, base := range bases {
			add(base, inherited)
		}
		source.Blank(code[all.From:all.To])
	}
	for at := range dottedNames(code) {
		if definedBefore.Match(code[max(0, at.From-maxBeside):at.From]) {
			continue
		}
		how := mentioned
		if callAfter.Match(code[at.To:min(len(code), at.To+maxBeside)]) {
			how = called
		}
		add(at, how)
	}
	return found
}

// dottedNames yields the names in the code, with their attributes: a, a.b. A name after a dot belongs to an expression
// that has no name. It reads the code by hand, since this takes most of the time that a source costs.
func dottedNames(code []byte) iter.Seq[source.Span] {
	return func(yield func(source.Span) bool) {
		for at := 0; at < len(code); at++ {
			from := at
			for at < len(code) && (source.IsWordByte(code[at]) || code[at] == '.') {
				at++
			}
			span := source.Span{From: from, To: from + len(bytes.TrimRight(code[from:at], "."))}
			if span.Len() > 0 && source.IsWordByte(code[from]) && !yield(span) {
				return
			}
		}
	}
}

// healthHelper is a call that gives a server to a function of another module which is named for health.
type healthHelper struct {
	*finding.Site
	module string // its path
}

var (
	helperCall = lazyregexp.New(`(?:^|[^\w.])(?P<name>[A-Za-z_]\w*(?:\.\w+)*)\(`)
	// namedForHealth is in the full name of a helper, and generatedHealth in those of what registers the health service
	// itself. givenServer is a name that people give a server, as an argument.
	namedForHealth  = lazyregexp.New(`(?i)health`)
	generatedHealth = lazyregexp.New(`^grpc_health\b|_pb2_grpc\b|^grpclib\b`)
	givenServer     = lazyregexp.New(`^[\w.]*(?i:server|grpc)\w*$`)
)

// maxCalls is how many calls of a source are looked at for helpers.
const maxCalls = 2000

func healthHelpers(t *source.Text, i imports) []finding.Finding {
	var found []finding.Finding
	if !t.Matches(namedForHealth) {
		return nil
	}
	for _, m := range t.FindAll(helperCall, maxCalls) {
		first, rest, _ := strings.Cut(string(t.Code[m[2]:m[3]]), ".")
		full := i.names[first] + "." + rest
		if i.names[first] == "" || !namedForHealth.MatchString(full) || generatedHealth.MatchString(full) {
			continue
		}
		each, _ := t.Arguments(m[1])
		if slices.ContainsFunc(each, func(s source.Span) bool { return givenServer.MatchString(t.Slice(s)) }) {
			site := finding.At(t, source.Span{From: m[2], To: m[1]}).Quiet()
			found = append(found, healthHelper{site, modulePath(full)})
		}
	}
	return found
}

// modulePath returns the path of the module that a full name is in.
func modulePath(full string) string {
	module := full[:max(strings.LastIndexByte(full, '.'), 0)]
	return strings.ReplaceAll(cmp.Or(module, full), ".", "/")
}
