package address

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// DeclareFunction adds what a function returns: an expression, or a body that states one port. A function of a type, ""
// for none, is another one than that of the same name of another type.
func (d *Names) DeclareFunction(ofType, name string, body source.Span) {
	name = functionOf(ofType, name)
	d.byName[name] = append(d.byName[name], declaration{value: d.expression(body)})
	d.Returned = append(d.Returned, NamedValue{Name: name, Value: body})
}

// functionOf returns the name by which a function is declared, which belongs to a type or, if that is "", to none.
func functionOf(ofType, name string) string { return strings.TrimPrefix(ofType+"."+name+"()", ".") }

// FunctionCalled returns the name by which the function is declared that a call names. It is "" for a method of an
// object, whose type is not looked for: another type may have a method of that name.
func (d *Names) FunctionCalled(u Use) string {
	before, name, separator := cutPath(u.Dotted)
	if d.TypeAt == nil {
		return functionOf("", name)
	}
	own := d.TypeAt(u.At)
	_, receiver, _ := cutPath(before)
	switch {
	case before == "" && own != "" && d.byName[functionOf(own, name)] == nil:
		return functionOf("", name)
	case before == "", isOwnObject.MatchString(before):
		return functionOf(own, name)
	case receiver[0] >= 'A' && receiver[0] <= 'Z':
		return functionOf(receiver, name)
	case separator == "::":
		return functionOf("", name)
	}
	return ""
}

// isOwnObject matches how a method names its own object, or its class.
var isOwnObject = source.Exactly(`this|self|cls|Self`)

// pathSeparator stands between the parts of a dotted name.
var pathSeparator = lazyregexp.New(`::|->|\.`)

// cutPath cuts the last part off a dotted name.
func cutPath(dotted string) (before, last, separator string) {
	all := pathSeparator.FindAllStringIndex(dotted, -1)
	if all == nil {
		return "", dotted, ""
	}
	m := all[len(all)-1]
	return dotted[:m[0]], dotted[m[1]:], dotted[m[0]:m[1]]
}

// Function is a function that a text defines.
type Function struct {
	Name       string
	At         int // the offset of the name in the definition
	End        int // the offset at which the parameters end
	Parameters []Parameter
	// IsAlone says that no object stands before it where it is called.
	IsAlone bool
}

// Parameter is a parameter of a function.
type Parameter struct {
	Name    string      // "" for one that is of no interest
	Default source.Span // what it is if a call does not give it; empty if each call has to
	// Position is the number of the argument, and the field of it that the parameter is: "0.port" of start({ port }).
	// It is "" in a language in which no argument has fields: then the parameter's own number counts.
	Position string
	// Given are names of what else may give it a value, as the field that it is may be set.
	Given []Name
}

// Parameters returns the parameters that begin at an offset, and the span of them all. The pattern matches a parameter
// up to its default, with its name in the first group. What it does not match has no name.
func (d *Names) Parameters(at int, pattern *lazyregexp.Regexp) (parameters []Parameter, all source.Span) {
	each, all := d.Arguments(at)
	for _, s := range each {
		parameters = append(parameters, d.Parameter(s, pattern))
	}
	return parameters, all
}

// Parameter returns the parameter in a span, as [Names.Parameters] does.
func (d *Names) Parameter(s source.Span, pattern *lazyregexp.Regexp) Parameter {
	m := pattern.FindSubmatchIndex(d.Code[s.From:s.To])
	if m == nil {
		return Parameter{}
	}
	return Parameter{
		Name:    d.Slice(source.Span{From: s.From + m[2], To: s.From + m[3]}),
		Default: source.Span{From: s.From + m[1], To: s.To},
	}
}

// AnyNamed reports whether one of the parameters has a name that a pattern matches.
func AnyNamed(parameters []Parameter, pattern *lazyregexp.Regexp) bool {
	return slices.ContainsFunc(parameters, func(p Parameter) bool { return pattern.MatchString(p.Name) })
}

// DeclareArguments adds what the calls of a function in this text give to its parameters, in their order, or leave to
// their defaults. The parameters are visible in the body alone, which is what is indented more. It reports whether
// there is a call.
func (d *Names) DeclareArguments(f Function) bool {
	body := d.blocks.Body(d.Text, d.LogicalLine(f.At), d.LogicalLine(f.End))
	if body < 0 {
		return false
	}
	var calls []int
	for at := range d.Words(f.Name) {
		open := at + len(f.Name)
		for open < len(d.Code) && strings.IndexByte(" \t", d.Code[open]) >= 0 {
			open++
		}
		isOther := f.IsAlone && at > 0 && d.Code[at-1] == '.'
		if at == f.At || isOther || open == len(d.Code) || d.Code[open] != '(' {
			continue
		}
		if calls = append(calls, open+1); len(calls) == MaxListeners {
			break
		}
	}
	calls = append(calls, d.started[f.Name]...)
	for _, from := range calls {
		d.give(f, body, from)
	}
	if len(calls) > 0 {
		d.called = append(d.called, calledFunction{f, body, calls})
	}
	return len(calls) > 0
}

// calledFunction is a function that calls in the text give something, with its body and where their arguments begin.
type calledFunction struct {
	Function
	body  int
	calls []int
}

// EachCall calls do with what each call of the function around an offset gives to a parameter, while all its parameters
// are what this call gives them: of configure(a, 50051) and configure(b, 50052) the port of b is 50052.
func (d *Names) EachCall(parameter string, at int, do func(given source.Span)) {
	hasParameter := func(p Parameter) bool { return p.Name == parameter }
	for _, f := range slices.Backward(d.called) {
		if at < f.End || at >= d.BodyEnd(f.End) || !slices.ContainsFunc(f.Parameters, hasParameter) {
			continue
		}
		isGiven := func(x declaration) bool { return x.isParameter && x.scope == f.body }
		all := map[string][]declaration{}
		for _, p := range f.Parameters {
			all[p.Name] = d.byName[p.Name]
		}
		for _, from := range f.calls {
			for name, declared := range all {
				d.byName[name] = slices.DeleteFunc(slices.Clone(declared), isGiven)
			}
			d.give(f.Function, f.body, from)
			given, _ := d.Argument(from, slices.IndexFunc(f.Parameters, hasParameter), parameter)
			do(given)
		}
		maps.Copy(d.byName, all)
		return
	}
}

// give adds what a call gives to the parameters of a function, by the offset at which its arguments begin, or leaves to
// their defaults.
func (d *Names) give(f Function, body, from int) {
	spreads := d.spreads(from)
	for i, p := range f.Parameters {
		value, ok := d.Argument(from, i, p.Name)
		if !ok && !spreads {
			value, ok = p.Default, p.Default.From < p.Default.To
		}
		if p.Name != "" && ok {
			given := declaration{value: d.expression(value), scope: body, isParameter: true}
			d.byName[p.Name] = append(d.byName[p.Name], given)
		}
	}
}

// DeclareParameter adds a parameter of a function which an option of the command line gives.
func (d *Names) DeclareParameter(of Function, v NamedValue) {
	d.DeclareValue(v)
	if body := d.blocks.Body(d.Text, d.LogicalLine(of.At), d.LogicalLine(of.End)); body >= 0 {
		last := &d.byName[v.Name][len(d.byName[v.Name])-1]
		last.scope, last.isParameter = body, true
	}
}

// DeclareStarts says where the text has functions called by others, with arguments that follow what patterns
// match: Thread(target=serve, args=(50051,)). The group "name" is such a function.
func (d *Names) DeclareStarts(patterns ...*lazyregexp.Regexp) {
	d.started = map[string][]int{}
	for _, p := range patterns {
		for _, m := range d.FindAll(p, MaxListeners) {
			name, _ := d.Group(p, m, "name")
			d.started[name] = append(d.started[name], m[1])
		}
	}
}

// spreads reports whether the arguments of a call, from their offset, hold a list or a dictionary that gives several:
// *args, **options, ...args.
func (d *Names) spreads(from int) bool {
	each, _ := d.Arguments(from)
	return slices.ContainsFunc(each, func(at source.Span) bool {
		return at.From < at.To && (d.Code[at.From] == '*' || d.Code[at.From] == '.')
	})
}

// Forget leaves out what a name is declared with in a span, where it is a parameter and the declaration its default.
func (d *Names) Forget(name string, in source.Span) {
	d.byName[name] = slices.DeleteFunc(d.byName[name], func(x declaration) bool { return in.Contains(x.value.at) })
}

// Callable is a function, a method or a constructor whose parameters calls in other files may give something.
type Callable struct {
	// Name is how other files call it: a function, or the class whose constructor it is; "" for one that they do not
	// call.
	Name string
	// Unsure is how a call may name it of which it is not known whether it does, "" for none.
	Unsure string
	// Module is the module that calls from other files name before it, "" if they name none. An argument that they give
	// by its name may come without it: a method has no module.
	Module string
	// At is the offset at which the parameters begin.
	At         int
	Parameters []Parameter
	// Body is where the parameters are visible: in the function, or in the class whose fields they become.
	Body source.Span
}

// maxCallables is how many callables of one text are kept.
const maxCallables = 256

// DeclareCallable adds a function, whose parameters are looked up in other files where the text gives them nothing.
func (d *Names) DeclareCallable(c Callable) {
	if len(d.callables) < maxCallables {
		d.callables = append(d.callables, c)
	}
}

// fieldOfArgument returns the name of what calls in other files give to the field of a parameter, if that is what a
// name is: start({ port: 50051 }) to options.port. function is nil for another name.
func (d *Names) fieldOfArgument(u Use) (field Name, function *Callable) {
	root, _, isField := strings.Cut(Path(u.Dotted), ".")
	if !isField || !strings.HasPrefix(Path(u.Dotted), root+u.Path) {
		return Name{}, nil
	}
	c, number := d.parameterOf(Use{Path: root, At: u.At})
	if c == nil || c.Parameters[number].Position == "" {
		return Name{}, nil
	}
	return Name{Path: ArgumentName(c.qualified(), c.Parameters[number].Position+u.Path)}, c
}

// IsCallable reports whether the text has a function of this name whose parameters are looked up in other files.
func (d *Names) IsCallable(name string) bool {
	return slices.ContainsFunc(d.callables, func(c Callable) bool { return c.Name == name })
}

// parameterOf returns the parameter that a name is: that of the innermost function around its use which has one of this
// name. function is nil for another name.
func (d *Names) parameterOf(u Use) (function *Callable, number int) {
	for i := range d.callables {
		c := &d.callables[i]
		n := slices.IndexFunc(c.Parameters, func(p Parameter) bool { return p.Name == u.Path })
		if n < 0 || !c.Body.Contains(u.At) || function != nil && function.Body.Len() <= c.Body.Len() {
			continue
		}
		function, number = c, n
	}
	return function, number
}

// argumentsOf returns the names of what calls in other files give to a parameter, by its number and by its name, if
// that is what a name is. A parameter of a function that they do not call has none.
func (d *Names) argumentsOf(u Use) (names []Name, isParameter bool) {
	c, number := d.parameterOf(u)
	switch {
	case c == nil:
		return nil, false
	case c.Name == "":
		return nil, true
	}
	if at := c.Parameters[number].Position; at != "" {
		return []Name{{Path: ArgumentName(c.qualified(), at)}}, true
	}
	names = []Name{{Path: ArgumentName(c.qualified(), strconv.Itoa(number))}, {Path: ArgumentName(c.Name, u.Path)}}
	names = append(names, c.Parameters[number].Given...)
	if c.Module != "" {
		names = append(names, Name{Path: ArgumentName(c.qualified(), u.Path)})
	}
	if c.Unsure != "" {
		names = append(names, Name{Path: ArgumentName(c.Unsure, strconv.Itoa(number))})
	}
	return names, true
}

// qualified returns the name with the module before it.
func (c *Callable) qualified() string {
	if c.Module == "" {
		return c.Name
	}
	return c.Module + "." + c.Name
}

// ArgumentName returns the name, for other files, of what calls give to the parameter of a function: to one with a
// number, or to one with a name.
func ArgumentName(function, parameter string) string { return function + "(" + parameter + ")=" }

// FieldName returns the name of a field of an argument, whose name is given.
func FieldName(argument, field string) string {
	return strings.TrimSuffix(argument, ")=") + "." + field + ")="
}

// withoutArguments returns the name that a call without arguments declares: what the function has for a default holds
// then.
func withoutArguments(function string) string { return ArgumentName(function, "") }

// isArgument matches what ArgumentName returns.
var isArgument = lazyregexp.New(`\((?:[\w.]+|\*\*)\)=$`)

// Argument is what a call gives to a parameter of a function in another file.
type Argument struct {
	Name  string // what ArgumentName returns
	Value source.Span
}

// mayListen is in the arguments of a call that may say where something listens.
var mayListen = lazyregexp.New(`(?i)\d{2}|port|addr|host|bind|listen|endpoint|ur[il]|conf|opt|env|sett|arg|flag|` +
	`^\s*\{|(?-i:\b[A-Z][A-Z0-9_]+\b)`)

// ArgumentsOf returns what the calls that a pattern matches give to functions of other files. The group "name" is how a
// function is called, and nameOf returns its name for other files, "" for none.
func (d *Names) ArgumentsOf(calls *lazyregexp.Regexp, nameOf func(called string) string) []Argument {
	var all []Argument
	left := maxCalls
	for _, m := range d.FindCalls(calls, maxCallMatches) {
		called, _ := d.Group(calls, m, "name")
		function := nameOf(called)
		if isDefinition := func(c Callable) bool { return c.At == m[1] }; function == "" ||
			slices.ContainsFunc(d.callables, isDefinition) {
			continue
		}
		each, list := d.Arguments(m[1])
		if list.From == list.To {
			all = append(all, Argument{Name: withoutArguments(function), Value: list})
			continue
		}
		if !mayListen.Match(d.Raw[list.From:list.To]) && !d.IsCallable(function) {
			continue
		}
		if left--; left < 0 {
			break
		}
		for i, s := range each[:min(len(each), maxArguments)] {
			a := Argument{ArgumentName(function, strconv.Itoa(i)), s}
			if name := namedArgument.FindSubmatchIndex(d.Code[s.From:s.To]); name != nil {
				a.Name = ArgumentName(function, string(d.Code[s.From:s.From+name[3]]))
				a.Value.From += name[1]
			}
			all = append(all, a)
		}
	}
	return all
}

// namedArgument is what an argument begins with that is given by its name.
var namedArgument = lazyregexp.New(`^([A-Za-z_]\w*)\s*(?:=\s*|:\s+)`)

// Given returns the declarations of what [Names.ArgumentsOf] returns.
func (d *Names) Given(calls *lazyregexp.Regexp, nameOf func(called string) string) []Declaration {
	var given []Declaration
	for _, a := range d.ArgumentsOf(calls, nameOf) {
		given = append(given, d.Declaration(a.Name, a.Value))
	}
	return given
}

// maxCallMatches is how many calls of a text are looked at, maxCalls how many of functions of other files are read, and
// maxArguments how many arguments of each.
const (
	maxCallMatches = 1024
	maxCalls       = 64
	maxArguments   = 24
)
