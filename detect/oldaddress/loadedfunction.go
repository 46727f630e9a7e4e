package address

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// definition is a function, up to its parameters if it has some.
	definition = lazyregexp.New(`\b(?:def[ \t]+(?:self\.)?|function[ \t]+)(?P<name>\w+)[ \t]*(?P<open>\()?`)
	// ofReturn stands before what a function returns, at once or by a variable.
	ofReturn = lazyregexp.New(
		`(?:^|\n)[ \t]*(?:return\b|(?:(?:const|let|var)[ \t]+)?(?P<name>@?\w+)[ \t]*(?::[ \t]*[\w\[\], .]+)?=)?` +
			`[ \t]*(?:await[ \t]+)?$`)
	// lastReturned is a name at the end of a function.
	lastReturned = lazyregexp.New(`\n[ \t]*(?:return[ \t]+)?(@?\w+);?\s*(?:\}|\bend\b)?\s*$`)
	// parameterPart is a parameter, or an argument that has its name, up to its value.
	parameterPart = lazyregexp.New(`^(?P<name>\w+)[^=]*(?:=\s*)?`)
)

// definedFunction is a function that the text defines.
type definedFunction struct {
	name       string
	parameters []expression
	names      []string // of the parameters
	body       source.Span
}

// functions returns the functions that the text defines, in their order.
func (d *Names) functions() []definedFunction {
	if d.defined != nil {
		return d.defined
	}
	d.defined = []definedFunction{}
	for _, m := range d.FindAll(definition, maxExpressions) {
		f := definedFunction{name: string(d.Code[m[2]:m[3]]), body: source.Span{From: m[1]}}
		if m[4] >= 0 {
			parameters, list := d.Arguments(m[1])
			for _, p := range parameters {
				if of := d.Slice(p); of != "self" && of != "cls" {
					parameter := d.expression(p)
					name, _ := passedTo(parameter, 0, nil)
					f.parameters, f.names = append(f.parameters, parameter), append(f.names, name)
				}
			}
			f.body.From = list.To
		}
		f.body.To = max(f.body.From, d.BodyEnd(f.body.From))
		d.defined = append(d.defined, f)
	}
	return d.defined
}

// loadedByFunction returns the settings that a function of the source returns, nil for none. They are unclear if
// several functions have its name.
func (d *Names) loadedByFunction(name string, arguments []expression, depth int) *loaded {
	var one *loaded
	for _, f := range d.functions() {
		if f.name != name || depth <= 0 {
			continue
		}
		given := map[string]expression{}
		for i, p := range f.parameters {
			parameter, value := passedTo(p, i, arguments)
			given[parameter] = value
		}
		of := d.loadedInBody(d.expression(f.body), given, depth)
		if of != nil && one != nil {
			of.isUnclear = true
		}
		one = cmp.Or(of, one)
	}
	return one
}

// loadedByParameter returns the settings that all calls in the source give a parameter, by its name and where it is
// used; nil if they give none. It reports whether the name is that of a parameter.
func (d *Names) loadedByParameter(name string, at, depth int) (*loaded, bool) {
	for _, f := range slices.Backward(d.functions()) {
		number := slices.Index(f.names, name)
		if number < 0 || !f.body.Contains(at) {
			continue
		}
		var one *loaded
		for at := range d.Words(f.name) {
			after := at + len(f.name)
			isCall := bytes.HasPrefix(d.Code[after:], []byte("("))
			if d.leftLoaded--; !isCall || definedBefore.Match(d.Code[max(0, at-maxDefining):at]) {
				continue
			}
			if d.leftLoaded < 0 {
				return nil, true
			}
			arguments, _ := d.expression(source.Span{From: after + 1, To: d.Until(after+1, "")}).arguments(0)
			_, value := passedTo(f.parameters[number], number, arguments)
			of := d.loadedIn(value, name, depth-1)
			if of == nil || one != nil && of.Name != one.Name {
				return nil, true
			}
			one = of
		}
		return one, true
	}
	return nil, false
}

var definedBefore = lazyregexp.New(`\b(?:def|function)[ \t]+(?:self\.)?$`)

// maxDefining is how many bytes before the name of a function the word is that defines it.
const maxDefining = 20

// passedTo returns the name of a parameter, by its number, and the argument that it gets of those of a call, or else
// its default.
func passedTo(parameter expression, number int, arguments []expression) (string, expression) {
	m := parameterPart.FindSubmatchIndex(parameter.code)
	if m == nil {
		return "", expression{}
	}
	name := string(parameter.code[m[2]:m[3]])
	for i, a := range arguments {
		of := parameterPart.FindSubmatchIndex(a.code)
		switch isNamed := of != nil && bytes.IndexByte(a.code[:of[1]], '=') > 0; {
		case isNamed && string(a.code[of[2]:of[3]]) == name:
			return name, a.part(source.Span{From: of[1], To: len(a.code)})
		case !isNamed && i == number && len(a.code) > 0:
			return name, a
		}
	}
	return name, parameter.part(source.Span{From: m[1], To: len(parameter.code)})
}

// loadedInBody returns the settings that the body of a function returns; nil if it reads none. The parameters have
// what they are given.
func (d *Names) loadedInBody(body expression, given map[string]expression, depth int) *loaded {
	all := loads.FindAllIndex(body.code, maxLoaded)
	if len(all) == 0 {
		return nil
	}
	first := all[0]
	arguments, to := body.arguments(first[1])
	l := d.loadedFrom(arguments[0], given, depth)
	if l == nil {
		return nil
	}
	c := chain{x: body, to: to}
	for c.link() {
	}
	l.Path = strings.Join(c.keys, ".")
	m := ofReturn.FindSubmatchIndex(body.code[:first[0]])
	isReturned := m != nil && (m[2] < 0 || d.isReturned(string(body.code[m[2]:m[3]]), body.code[c.to:]))
	l.isUnclear = l.isUnclear || c.isUnclear || len(all) > 1 || !isReturned
	return l
}

// isReturned reports whether code returns what a name has, and nothing replaces a part of that.
func (d *Names) isReturned(name string, code []byte) bool {
	m := lastReturned.FindSubmatch(code)
	return m != nil && string(m[1]) == name && !d.isReplaced(strings.TrimLeft(name, "@"))
}

// maxReplacement is how many bytes before and after the name of settings say whether a part of them is replaced.
const maxReplacement = 200

// isReplaced reports whether the source sets a part of the settings that a name has, or gives it those of others.
func (d *Names) isReplaced(name string) bool {
	isKnown, ok := d.replaced[name]
	if ok {
		return isKnown
	}
	if d.replaced == nil {
		d.replaced = map[string]bool{}
	}
	d.replaced[name] = false
	for at := range d.Words(name) {
		end := at + len(name)
		if replacement.Match(d.Code[end:min(end+maxReplacement, len(d.Code))]) ||
			mergesInto.Match(d.Code[max(0, at-maxReplacement):at]) {
			d.replaced[name] = true
			break
		}
	}
	return d.replaced[name]
}
