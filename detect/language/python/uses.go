package python

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

type use int

const (
	mentioned use = iota // passed on, for example to a helper that registers services
	called               // a call of a function, or of a class for an instance
	inherited            // a base of a class
)

var (
	classBases = lazyregexp.New(`(?m)^[ \t]*class[ \t]+\w+[ \t]*\(`)
	// definedBefore ends before a name in the definition of the name, which is no use.
	definedBefore = lazyregexp.New(`\b(?:def|class)[ \t]+$`)
	callAfter     = lazyregexp.New(`^[ \t]*\(`)
)

// maxBeside is how many bytes before or after a name are read for its use.
const maxBeside = 16

// findUses returns the findings of the uses of names in a source.
func findUses(t *source.Text, i imports) []finding.Finding {
	var found []finding.Finding
	has := map[*lazyregexp.Regexp]bool{nil: false}
	add := func(at source.Span, how use) {
		for _, full := range i.resolve(t.Slice(at)) {
			r, ok := ruleFor(full, how)
			if !ok {
				continue
			}
			if _, isKnown := has[r.unless]; !isKnown {
				has[r.unless] = i.rest.Matches(r.unless)
			}
			if r.proves == nil || has[r.unless] {
				return
			}
			f := r.proves(finding.At(t, at), full)
			if !finding.Is[healthHelper](f) || givesServer(t, i, at) {
				found = append(found, f)
			}
			return
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

// dottedNames yields the names in the code, with attributes: a, a.b. A name after a dot belongs to an expression
// without a name. dottedNames uses no patterns, because most of the time for a source is spent here.
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

// givenServer is a usual name of a server that is an argument.
var givenServer = lazyregexp.New(`^[\w.]*(?i:server|grpc)\w*$`)

// givesServer reports whether the call of an imported name has a server as an argument.
func givesServer(t *source.Text, i imports, name source.Span) bool {
	first, _, _ := strings.Cut(t.Slice(name), ".")
	each, _ := t.Arguments(t.Until(name.To, "(") + 1)
	isServer := func(s source.Span) bool { return givenServer.MatchString(t.Slice(s)) }
	return i.names[first] != "" && slices.ContainsFunc(each, isServer)
}
