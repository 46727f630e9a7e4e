package address

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// maxReached is how many expressions one is followed to. Those of real servers have a handful.
const maxReached = 48

// Reach returns the expressions of the text that decide what the one in a span is: that one itself, those that its
// names are declared with, those that its names' fields are set to, and those of their names in turn.
func (d *Names) Reach(s source.Span) []source.Span {
	reached := []source.Span{s}
	seen := map[int]bool{s.From: true}
	for i := 0; i < len(reached); i++ {
		x := d.expression(reached[i])
		for _, m := range dottedName.FindAllIndex(x.code, maxDeclarations) {
			if m[0] > 0 && strings.IndexByte(".:>", x.code[m[0]-1]) >= 0 {
				continue
			}
			isCall := m[1] < len(x.code) && x.code[m[1]] == '('
			for _, v := range d.declaredAs(x.nameAt(m), isCall) {
				if !seen[v.From] && len(reached) < maxReached {
					seen[v.From] = true
					reached = append(reached, v)
				}
			}
		}
	}
	return reached
}

// declaredAs returns the expressions that a name is declared with, or a function returns, and those that its fields are
// set to.
func (d *Names) declaredAs(u Use, isCall bool) []source.Span {
	name := Path(u.Dotted)
	last := strings.LastIndexByte(name, '.')
	if isCall {
		if returned := d.Values(d.FunctionCalled(u), u.At); returned != nil {
			return returned
		}
		name = name[:max(last, 0)]
	}
	first, field, isField := strings.Cut(name, ".")
	values := d.Values(first, u.At)
	if isField {
		values = append(values, d.Values("."+field, u.At)...)
	}
	if first != "" {
		values = append(values, d.fieldsOf(first)...)
	}
	return values
}

// setsField is what follows a name whose field is set: options.certificate = value.
var setsField = lazyregexp.New(`^(?:\.|->)\w+\s*=[^=>]`)

// fieldsOf returns the expressions that the fields of a name are set to, with the fields.
func (d *Names) fieldsOf(name string) []source.Span {
	if d.left--; d.left < 0 {
		return nil
	}
	var values []source.Span
	for at := range d.Words(name) {
		from := at + len(name)
		if setsField.Match(d.Code[from:min(len(d.Code), from+maxAfterName)]) {
			values = append(values, source.Span{From: from + 1, To: d.Until(from+1, ";\n")})
		}
		if len(values) == maxDeclarations {
			break
		}
	}
	return values
}

// Variables returns the environment variables that the expressions in spans ask for, in their order.
func (d *Names) Variables(spans []source.Span) []string {
	var all []string
	for _, s := range spans {
		for _, name := range Variables(d.Raw[s.From:s.To]) {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// Strings returns the contents of the strings in spans.
func (d *Names) Strings(spans []source.Span) []string {
	var all []string
	for _, s := range spans {
		for _, m := range stringLiteral.FindAllIndex(d.Code[s.From:s.To], maxDeclarations) {
			if text := string(d.Raw[s.From+m[0]+1 : s.From+m[1]-1]); !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return all
}

var (
	// socketPath is a path of a socket, and pathPart what may be a part of one: then the path is not known.
	socketPath = lazyregexp.New(`^(?:unix:)?[\w./@-]+$`)
	pathPart   = lazyregexp.New(`/|\.sock`)
	joinsPath  = lazyregexp.New(`(?i)\bjoin\w*\s*\(|\bcombine\s*\(|\bpush\s*\(|\+|</?>`)
)

// SocketAt returns the value of a listener on a Unix domain socket whose path is the expression in a span.
func (d *Names) SocketAt(s source.Span) Value {
	s = d.Trim(s)
	v, reached := d.Socket(s.From), d.Reach(s)
	asked := d.Variables(reached)
	var paths []string
	for _, text := range d.Strings(reached) {
		if pathPart.MatchString(text) && !slices.Contains(asked, text) {
			paths = append(paths, text)
		}
	}
	if text := d.Strings([]source.Span{s}); len(text) == 1 && s.To-s.From == len(text[0])+2 {
		paths = text // nothing but a path
	}
	computes := slices.ContainsFunc(reached, func(r source.Span) bool { return joinsPath.MatchString(d.Slice(r)) })
	if len(paths) != 1 || computes || !socketPath.MatchString(paths[0]) {
		return v
	}
	v.Socket, v.Certainty = "unix:"+strings.TrimPrefix(paths[0], "unix:"), Written
	asksOutside := func(r source.Span) bool { return outside.MatchString(d.Slice(r)) }
	if len(asked) > 0 || slices.ContainsFunc(reached, asksOutside) {
		v.Certainty, v.Outside = Default, true
	}
	if len(asked) == 1 {
		v.Variable = asked[0]
	}
	return v
}
