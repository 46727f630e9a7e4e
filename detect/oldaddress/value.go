package address

import (
	"cmp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// Value is what a file says of an expression.
type Value struct {
	// Address is what is written in the file itself. If there are names too, it is what holds if the names say nothing:
	// a default, what calls in the file itself give to a parameter, or, if its certainty is Unknown, a default if what
	// the names stand for comes from outside of the app.
	Address
	// Names are what other files may say of it.
	Names []Name
	// IfCalled is a name without whose declaration in a file the address does not hold; "" if it holds anyway.
	IfCalled string
	// HoldsUnset says that the address also holds if a call gives something that the environment or the command line
	// does not set, as the default of a parameter in JavaScript does.
	HoldsUnset bool
	// Given are the names of what other files may give instead. If they do, neither that nor the rest is known to hold,
	// unless both are the same.
	Given []Name
	// Givers are what may give it when the process starts, the first of them before the others: flags, environment
	// variables and arguments, as [FlagGiver] and its like have them.
	Givers []string
	// Outside says that the environment, the command line or a setting gives it when the app runs.
	Outside bool
}

// Name is a name that files declare for one another.
type Name struct {
	// Module is the module that the name is imported from, as the source writes it; [ThisFile] for a name of the file
	// itself; "" for a name that reaches across files by itself.
	Module string
	// Path is the name: "PORT", ".field" of what is reached as a field, "function()", "name=" of what calls give to a
	// parameter, "Class.field", a key of the settings. The name "" of a module is the module itself: its declaration
	// has the names of what the module exports that others declare.
	Path string
}

// ThisFile is the module of a name that the file declares itself. No source writes a module so.
const ThisFile = "."

// Field returns the name of what is reached as a field, whatever it is a field of: ".port" of ".config.grpc.port".
func Field(path string) Name { return Name{Path: "." + path[strings.LastIndexByte(path, '.')+1:]} }

// KeysAlone is the scoping of a language in which nothing but what is read by keys reaches across files.
func KeysAlone(u Use) Name {
	if strings.HasPrefix(u.Path, ".[") {
		return Name{Path: u.Path}
	}
	return Name{}
}

// Declaration is a name that a file declares for others.
type Declaration struct {
	Name string
	Value
}

// GivenBy returns the declaration with the names of what other files may give instead, as [Names.DeclareValue] does.
func (d Declaration) GivenBy(names []Name) Declaration {
	d.Given = slices.Concat(d.Given, names)
	return d
}

// Value returns what the text says of the expression in a span.
func (d *Names) Value(s source.Span) Value { return d.FieldValue("", s) }

// FieldValue is [Names.Value] of an expression that is the default of a field, as [Names.DeclareField] has it.
func (d *Names) FieldValue(of string, s source.Span) Value {
	x := d.expression(s)
	x.of = of
	return d.valueOf(x)
}

// valueOf is [Names.Value] of an expression.
func (d *Names) valueOf(x expression) Value {
	e := d.evaluated(x)
	v := Value{
		Address: e.address(x.at), Outside: e.outside, IfCalled: e.ifCalled, HoldsUnset: e.holdsUnset, Given: e.given,
	}
	if !e.unclear && (v.Certainty != Unknown || len(e.found) == 0) {
		v.Givers = e.giverNames()
	}
	names := e.undeclared
	if len(e.found)+len(e.sockets) > 0 {
		names = slices.Concat(e.before, e.others)
	} else if e.unclear {
		// One of them may be the default of another one.
		names = slices.DeleteFunc(names, func(u Use) bool { return u.name.Module != settingsModule })
	}
	v.ofEnvironment()
	for _, n := range names {
		for _, global := range d.globals(n) {
			if !slices.Contains(v.Names, global) {
				v.Names = append(v.Names, global)
			}
		}
	}
	return v
}

// ofEnvironment adds that a file which sets environment variables may say what the value is, before its default.
func (v *Value) ofEnvironment() {
	if v.Variable != "" {
		v.Names = append(v.Names, Name{Path: ofEnvironment(v.Variable)})
	}
}

// globals returns what a name may be in other files.
func (d *Names) globals(u Use) []Name {
	if u.name != (Name{}) {
		return []Name{u.name}
	}
	if given, isParameter := d.argumentsOf(u); isParameter {
		return given
	}
	var all []Name
	field, function := d.fieldOfArgument(u)
	if function != nil {
		all = append(all, field)
	}
	// A parameter hides what has its name; the field that it becomes may be declared otherwise too.
	if d.Global != nil && (function == nil || ownPrefix.MatchString(u.Dotted)) {
		if global := d.Global(u); global != (Name{}) {
			all = append(all, global)
		}
	}
	return all
}

// ValueOn returns what the text says of a port, in a span, on a host that stands in another span.
func (d *Names) ValueOn(host, port source.Span) Value {
	v := d.Value(port)
	e := d.evaluated(d.expression(host))
	isOne := func(f found) bool { return f.Host == OneInterface }
	switch {
	case slices.ContainsFunc(e.found, isOne):
		v.Host = OneInterface
	case v.Host == UnknownHost && len(e.hosts) == 1:
		v.Host = e.hosts[0]
	}
	return v
}

// Nothing returns the value of a listener, at an offset, whose address the text does not state.
func (d *Names) Nothing(at int) Value {
	var v Value
	v.Place.Line = d.Line(at)
	return v
}

// Socket returns the value of a listener, at an offset, on a Unix domain socket.
func (d *Names) Socket(at int) Value {
	v := d.Nothing(at)
	v.Host = UnixSocket
	return v
}

// Setting returns the value of a setting on a line, which is an address or a port.
func Setting(text string, line int) Value {
	a := Parse(text)
	a.Place.Line = line
	return Value{Address: a}
}

// Of returns the value of an address, whose variable a file .env may set.
func Of(a Address) Value {
	v := Value{Address: a}
	v.ofEnvironment()
	return v
}

// FirstValue returns the value of the first expression that states an address; the first one's if none does.
func (d *Names) FirstValue(spans []source.Span) Value {
	var first Value
	for i, s := range spans {
		v := d.Value(s)
		if v.Certainty != Unknown {
			return v
		}
		if i == 0 {
			first = v
		}
	}
	return first
}

// OneOf returns the values of which a function returns one. What the environment or the command line gives has the
// others for its default: if (text == null) return 50051; return Integer.parseInt(text).
func OneOf(values []Value) []Value {
	given := Value{}
	var others []Value
	for _, v := range values {
		if !v.Outside || v.Certainty != Unknown {
			others = append(others, v)
			continue
		}
		given.Outside, given.Variable = true, cmp.Or(given.Variable, v.Variable)
		given.Names, given.Givers = append(given.Names, v.Names...), append(given.Givers, v.Givers...)
	}
	if !given.Outside || len(others) == 0 {
		return values
	}
	for i := range others {
		v := &others[i]
		v.Outside, v.Certainty = true, min(v.Certainty, Default)
		v.Variable = cmp.Or(given.Variable, v.Variable)
		v.Names, v.Givers = slices.Concat(given.Names, v.Names), slices.Concat(given.Givers, v.Givers)
	}
	return others
}

// Declaration returns the declaration of a name with the expression in a span. One whose span is empty has no value
// here, and may get any elsewhere.
func (d *Names) Declaration(name string, s source.Span) Declaration {
	if s.From >= s.To {
		v := Value{Givers: d.giversOf(name)}
		v.Place.Line = d.Line(s.From)
		return Declaration{Name: name, Value: v}
	}
	v := d.Value(s)
	v.Givers = slices.Concat(d.giversOf(name), v.Givers)
	return Declaration{Name: name, Value: v}
}

// Variable is [Names.Declaration] of a variable, by its own name or as a member of something, whose first value is in a
// span. What is assigned to it later, where that is seen, counts too.
func (d *Names) Variable(name string, s source.Span) Declaration {
	declared := d.Declaration(name, s)
	variable := name[strings.LastIndexByte(name, '.')+1:]
	if s.From < s.To && d.isAssignedAgain(variable, s) {
		givers := declared.Givers
		declared.Value = d.valueOf(expression{raw: []byte(variable), code: []byte(variable), at: max(0, s.From-1)})
		declared.Givers = givers
	}
	return declared
}

// Option returns the declaration of a name that an option of the command line gives, or an environment variable, with
// its default in a span, as [Names.DeclareOption] takes them.
func (d *Names) Option(name, variable string, s source.Span) Declaration {
	declared := d.Declaration(name, s)
	declared.Outside, declared.Certainty = true, min(declared.Certainty, Default)
	if declared.Variable = cmp.Or(variable, declared.Variable); variable != "" {
		declared.ofEnvironment()
		flags := d.giversOf(name)
		declared.Givers = slices.Insert(declared.Givers, len(flags), VariableGiver(variable))
	}
	return declared
}

// DeclarationOf returns the declaration of a name that is given a value when the app runs, or has one alone.
func (d *Names) DeclarationOf(v NamedValue) Declaration {
	if v.IsOption {
		return d.Option(v.Name, v.Variable, v.Value)
	}
	return d.Variable(v.Name, v.Value)
}

// address returns the one address that was found in the expression at an offset.
func (e *evaluation) address(at int) Address {
	unknown := Address{}
	unknown.Place.Line = e.Line(at)
	if !e.unclear {
		unknown.Variable = oneVariable(e.variables)
	}
	if len(e.found) == 0 {
		if len(e.hosts) == 1 {
			unknown.Host = e.hosts[0]
		}
		return e.withoutPort(unknown)
	}
	one := e.found[0]
	var hosts []Host
	for _, f := range e.found {
		if f.Port != one.Port {
			return unknown
		}
		if f.Host != UnknownHost && !slices.Contains(hosts, f.Host) {
			hosts = append(hosts, f.Host)
		}
	}
	if len(hosts) == 0 {
		hosts = e.hosts
	}
	a := Address{Port: one.Port, Certainty: Written}
	if len(hosts) == 1 {
		a.Host = hosts[0]
	}
	a.Place.Line = e.Line(one.at)
	switch {
	case e.unclear || one.Port == 0 || len(e.sockets) > 0:
		a.Certainty, a.Variable = Unknown, unknown.Variable
	case e.outside || len(e.before) > 0:
		a.Certainty, a.Variable = Default, cmp.Or(oneVariable(e.variables), e.whole)
	}
	return a
}

// withoutPort returns the address of an expression in which no port was found: a socket, or what an environment
// variable says. It is no socket for sure if something else may be meant.
func (e *evaluation) withoutPort(a Address) Address {
	if len(e.sockets) == 0 || e.unclear {
		return a
	}
	a.Host, a.Socket = UnixSocket, e.sockets[0]
	for _, s := range e.sockets[1:] {
		if s != a.Socket {
			a.Socket = ""
		}
	}
	switch {
	case a.Socket == "":
	case e.outside:
		a.Certainty = Default
	default:
		a.Certainty = Written
		a.Variable = ""
	}
	return a
}
