package jvm

import (
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// typeArguments stand between a name and what it is given in Scala: serve[F[_]: Async](port: Int), serve[IO](9090).
const typeArguments = `\s*(?:\[(?:[^\[\]()]|\[[^\[\]()]*\])*\]\s*)?`

// parameters are those of a function or a constructor that is declared: Server(int port), class Server(val port: Int),
// def serve(port: Int)(services: List).
var parameters = regexp.MustCompile(`\b(?P<name>[A-Za-z_]\w*)` + typeArguments +
	`\((?P<all>[^()]*)\)\s*(?:\([^()]*\)\s*)*` +
	`(?::[^={;()]*(?:\([^()]*\)[^={;()]*)?|throws\s+[\w.,\s]+)?(?:[{=]|extends\b|\n)`)

// parameter is one that a function or a constructor declares.
type parameter struct {
	callable string // how it is called in its file
	name     string
	number   int // from 0
	// byDefault is what it is if a call leaves it out, empty if each call has to give it.
	byDefault  source.Span
	declaredAt int
	isType     bool // the callable is a constructor
}

// parametersNamed returns the parameters with a name that the code at an offset may mean.
func (n *names) parametersNamed(name string, at int) []parameter {
	var found []parameter
	for _, m := range n.text.FindAll(parameters, maxValues) {
		callable, _ := n.text.Group(parameters, m, "name")
		if callable == "apply" {
			callable = n.typeAt(m[0]) // as an object of Scala is called
		}
		i := 2 * parameters.SubexpIndex("all")
		p, ok := n.parameterIn(source.Span{From: m[i], To: m[i+1]}, name)
		p.callable, p.declaredAt, p.isType = callable, m[0], startsWithCapital.MatchString(callable)
		if !ok || callable == "catch" || !p.isType && !n.isInBody(m[1], at) {
			continue
		}
		found = append(found, p)
	}
	return found
}

// parameterIn returns the parameter with a name in a list of them: int port, port: Int = 9090.
func (n *names) parameterIn(all source.Span, name string) (parameter, bool) {
	for i, from := 0, all.From; from <= all.To; i++ {
		one := source.Span{From: from, To: min(n.text.Until(from, ","), all.To)}
		before, value, hasDefault := strings.Cut(n.text.Slice(one), "=")
		before, _, _ = strings.Cut(before, ":")
		if fields := strings.Fields(before); len(fields) > 0 && fields[len(fields)-1] == name {
			p := parameter{name: name, number: i}
			if hasDefault {
				p.byDefault = n.text.Trim(source.Span{From: one.To - len(value), To: one.To})
			}
			return p, true
		}
		from = one.To + 1
	}
	return parameter{}, false
}

// optionalParameter returns what a parameter is that calls may leave out, as the only one of the arguments of a call
// that may be a port. ok is false for any other arguments.
func (n *names) optionalParameter(arguments []source.Span) (v address.Value, ok bool) {
	for _, at := range arguments {
		name := strings.TrimPrefix(n.text.Slice(at), "this.")
		if n.ext == ".java" || !simpleName.MatchString(name) || !isPortName.MatchString(name) {
			continue
		}
		for _, p := range n.parametersNamed(name, at.From) {
			if p.byDefault.From == p.byDefault.To || len(n.declared(at)) > 1 || n.lookups == maxLookups {
				continue
			}
			n.lookups++
			if given, isGiven := n.given(p); isGiven {
				return given, true
			}
			v = n.values().Value(p.byDefault)
			v.Names = append(v.Names, n.argumentsOf(p)...)
			return v, true
		}
	}
	return v, false
}

// parameter returns what calls give to the parameter that a listener listens on: those in the file, or those of a
// constructor in other files.
func (n *names) parameter(arguments []source.Span) address.Value {
	v := n.values().Nothing(arguments[0].From)
	for _, at := range arguments {
		name := strings.TrimPrefix(n.text.Slice(at), "this.")
		isItself := func(value source.Span) bool { return n.text.Slice(value) == name } // this.port = port
		if !simpleName.MatchString(name) || len(slices.DeleteFunc(n.declared(at), isItself)) > 0 {
			continue
		}
		for _, p := range n.parametersNamed(name, at.From) {
			if n.lookups == maxLookups {
				continue
			}
			n.lookups++
			given, ok := n.given(p)
			switch {
			case !ok:
				v.Names = append(v.Names, n.argumentsOf(p)...)
			case given.Certainty != address.Unknown || len(given.Names) > 0 || len(arguments) == 1:
				return given
			}
		}
	}
	return v
}

// argumentsOf returns the names of what calls in other files give to a parameter, by its number and by its name.
func (n *names) argumentsOf(p parameter) []address.Name {
	callable := p.callable
	if isMethod := n.text.Indented(n.text.Line(p.declaredAt)) > 0; isMethod && !p.isType {
		callable = n.typeAt(p.declaredAt) + "." + callable
	}
	return []address.Name{argumentOf(callable, p.number), namedArgument(callable, p.name)}
}

// isInBody reports whether an offset lies in the body of a function that begins before another offset.
func (n *names) isInBody(body, at int) bool {
	if body > at || n.text.Code[body-1] != '{' {
		return body <= at
	}
	_, all := n.text.Arguments(body)
	return all.Contains(at)
}

// given returns what the calls of a function or a constructor in this file give to a parameter. ok is false if there is
// no such call.
func (n *names) given(p parameter) (v address.Value, ok bool) {
	calls := regexp.MustCompile(`\b` + p.callable + typeArguments + `\(`)
	for _, m := range n.text.FindAll(calls, address.MaxListeners) {
		if m[0] == p.declaredAt {
			continue
		}
		value, isGiven := n.text.Argument(m[1], p.number, p.name)
		if !isGiven {
			value = p.byDefault
		}
		if value.From == value.To {
			continue
		}
		of := n.values().Value(value)
		if ok && of.Port != v.Port {
			return n.values().Nothing(value.From), true
		}
		v, ok = of, true
	}
	return v, ok
}
