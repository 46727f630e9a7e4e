package python

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	functionDefinition = lazyregexp.New(`(?m)^[ \t]*(?:async[ \t]+)?def[ \t]+(?P<name>\w+)[ \t]*\(`)
	classDefinition    = lazyregexp.New(`(?m)^[ \t]*class[ \t]+(?P<name>\w+)`)
	// typerOption is a parameter that Typer takes from the command line.
	typerOption   = lazyregexp.New(`\btyper\s*\.\s*(?:Option|Argument)\s*\(`)
	parameterName = lazyregexp.New(`^\w+`)
	// decorator is one, and property one that makes a field of a function.
	decorator = lazyregexp.New(`^[ \t]*@`)
	property  = lazyregexp.New(`^[ \t]*@(?:\w+\.)*(?:cached_)?property\b`)
	// startsCommand is a function that Typer or Fire makes a command of, and usesTyper is in sources that use Typer.
	startsCommand = lazyregexp.New(`\b(?:typer\.run|[Ff]ire)\(\s*(?P<name>\w+)\s*\)`)
	usesTyper     = source.NewKeywords("typer")
	// command is a decorator of Typer's that makes a command of a function.
	command = lazyregexp.New(`^[ \t]*@(?:\w+\.)+(?:command|callback)\b`)
	// givenName matches the names of parameters whose arguments count: where something listens, and what does.
	givenName = lazyregexp.New(listenName.String() + `|server`)
)

// maxFunctions is how many functions of a source are looked at.
const maxFunctions = 512

// function is a function or a method that a source defines.
type function struct {
	name string // what is called: the class, if the function is its constructor
	at   int    // the offset of that name
	// parameters are those that calls give, in their order, in the span all.
	parameters []source.Span
	all        source.Span
	indent     int
	isMethod   bool
	// isCommand says that it gets its arguments from the command line, those that have a default as flags.
	isCommand bool
}

// readFunctions returns the functions that a source defines, in their order.
func readFunctions(t *source.Text) []function {
	classes := t.FindAll(classDefinition, maxFunctions)
	commands, hasCommands := t.Names(startsCommand), usesTyper.In(t.Raw)
	var functions []function
	for _, m := range t.FindAll(functionDefinition, maxFunctions) {
		f := function{at: m[2], indent: t.Indented(t.LogicalLine(m[2]))}
		f.name = string(t.Code[m[2]:m[3]])
		for len(classes) > 1 && classes[1][0] < m[0] {
			classes = classes[1:]
		}
		if f.name == "__init__" && len(classes) > 0 && classes[0][0] < m[0] {
			f.name, f.at = string(t.Code[classes[0][2]:classes[0][3]]), classes[0][2]
		}
		f.parameters, f.all = t.Arguments(m[1])
		if first := t.Slice(f.parameters[0]); first == "self" || first == "cls" {
			f.parameters, f.isMethod = f.parameters[1:], f.at == m[2]
		}
		f.isCommand = slices.Contains(commands, f.name) || hasCommands && f.isDecorated(t, command)
		functions = append(functions, f)
	}
	return functions
}

// around returns the index of the function that an offset is in, or -1.
func around(functions []function, t *source.Text, at int) int {
	indent := t.Indented(t.LogicalLine(at))
	for i, f := range slices.Backward(functions) {
		if f.all.To < at && f.indent < indent {
			return i
		}
	}
	return -1
}

// parameter returns the name of the parameter in a span.
func parameter(t *source.Text, at source.Span) string { return parameterName.FindString(t.Slice(at)) }

// isClass matches the names of classes, as people write them: they are told apart without their modules.
var isClass = lazyregexp.New(`^_*[A-Z]`)

// moduleOf returns the name of the module that a file is.
func moduleOf(file string) string {
	if name := strings.TrimSuffix(path.Base(file), ".py"); name != "__init__" {
		return name
	}
	return path.Base(path.Dir(file))
}

// maxDecorators is how many decorators of a function are read.
const maxDecorators = 8

// isDecorated reports whether a pattern matches a decorator of the function.
func (f function) isDecorated(t *source.Text, with *lazyregexp.Regexp) bool {
	line := t.LogicalLine(f.at) - 1
	for first := line - maxDecorators; line >= 0 && line > first; line-- {
		switch code := t.LineCode(line); {
		case with.Match(code):
			return true
		case t.Indented(line) >= 0 && !decorator.Match(code):
			return false
		}
	}
	return false
}

// isProperty reports whether the function is read as a field.
func (f function) isProperty(t *source.Text) bool { return f.isMethod && f.isDecorated(t, property) }

// declare declares the parameters of a function: those that Typer takes from the command line, and what the calls in
// the source give.
func (f function) declare(d *address.Names, module string) {
	called := address.Function{Name: f.name, At: f.at, End: f.all.To, IsAlone: !f.isMethod}
	counts := false
	for _, at := range f.parameters {
		p := address.Parameter{Name: parameter(d.Text, at)}
		counts = counts || givenName.MatchString(p.Name)
		if equals := d.Until(at.From, "="); equals < at.To {
			p.Default = d.Trim(source.Span{From: equals + 1, To: at.To})
		}
		if o, ok := f.option(d.Text, at, p); ok {
			d.DeclareParameter(called, o)
			p.Default = source.Span{}
		}
		called.Parameters = append(called.Parameters, p)
	}
	if counts {
		d.DeclareArguments(called)
		if isClass.MatchString(f.name) || f.isMethod {
			module = ""
		}
		d.DeclareCallable(address.Callable{
			Module: module,
			Name:   f.name, At: f.all.From, Parameters: called.Parameters,
			Body: source.Span{From: f.all.From, To: d.BodyEnd(f.all.To)},
		})
	}
}

// option returns the option of the command line that gives a parameter, in a span, and whether one does.
func (f function) option(t *source.Text, at source.Span, p address.Parameter) (address.NamedValue, bool) {
	m := typerOption.FindStringIndex(t.Slice(at))
	hasDefault := p.Default.From < p.Default.To
	if m == nil {
		flags := []string{strings.ReplaceAll(p.Name, "_", "-")}
		o := address.NamedValue{Name: p.Name, Value: p.Default, IsOption: true, Flags: flags}
		return o, f.isCommand && hasDefault
	}
	o := optionOf(t, p.Name, at.From+m[1], 0)
	if o.Flags == nil && strings.Contains(t.Slice(at), "Option") {
		o.Flags = []string{strings.ReplaceAll(o.Name, "_", "-")}
	}
	if isAnnotated := at.From+m[0] < p.Default.From; hasDefault && isAnnotated {
		o.Value = p.Default
	}
	return o, true
}
