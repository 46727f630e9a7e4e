package python

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	functionDefinition = regexp.MustCompile(`(?m)^[ \t]*(?:async[ \t]+)?def[ \t]+(?P<name>\w+)[ \t]*\(`)
	classDefinition    = regexp.MustCompile(`(?m)^[ \t]*class[ \t]+(?P<name>\w+)`)
	// typerOption is a parameter that Typer takes from the command line.
	typerOption      = regexp.MustCompile(`\btyper\s*\.\s*(?:Option|Argument)\s*\(`)
	parameterName    = regexp.MustCompile(`^\w+`)
	parameterDefault = regexp.MustCompile(`^\w+[ \t]*(?::[^=]*)?=\s*(.+)$`)
	// givenName matches the names of parameters whose arguments count: where something listens, and what does.
	givenName = regexp.MustCompile(listenName.String() + `|server`)
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
}

// readFunctions returns the functions that a source defines, in their order.
func readFunctions(t *source.Text) []function {
	classes := t.FindAll(classDefinition, maxFunctions)
	var functions []function
	for _, m := range t.FindAll(functionDefinition, maxFunctions) {
		f := function{at: m[2], indent: t.Indented(t.Line(m[2]))}
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
		functions = append(functions, f)
	}
	return functions
}

// around returns the index of the function that an offset is in, or -1.
func around(functions []function, t *source.Text, at int) int {
	indent := t.Indented(t.Line(at))
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
var isClass = regexp.MustCompile(`^_*[A-Z]`)

// moduleOf returns the name of the module that a file is.
func moduleOf(file string) string {
	if name := strings.TrimSuffix(path.Base(file), ".py"); name != "__init__" {
		return name
	}
	return path.Base(path.Dir(file))
}

// declare declares the parameters of a function: those that Typer takes from the command line, and what the calls in
// the source give.
func (f function) declare(d *address.Names, module string) {
	called := address.Function{Name: f.name, At: f.at, End: f.all.To, IsAlone: !f.isMethod}
	counts := false
	for _, at := range f.parameters {
		p := address.Parameter{Name: parameter(d.Text, at)}
		counts = counts || givenName.MatchString(p.Name)
		if m := typerOption.FindStringIndex(d.Slice(at)); m != nil {
			o := optionOf(d.Text, p.Name, at.From+m[1], 0)
			if o.Flags == nil && strings.Contains(d.Slice(at), "Option") {
				o.Flags = []string{strings.ReplaceAll(o.Name, "_", "-")}
			}
			d.DeclareValue(o)
		} else if value := parameterDefault.FindStringSubmatchIndex(d.Slice(at)); value != nil {
			p.Default = source.Span{From: at.From + value[2], To: at.From + value[3]}
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
