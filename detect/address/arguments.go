package address

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// DeclareFunction adds what a function returns: an expression, or a body that states one port.
func (d *Names) DeclareFunction(name string, body source.Span) {
	d.byName[name+"()"] = append(d.byName[name+"()"], declaration{d.expression(body), 0, false})
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
}

// Parameters returns parameters of which nothing but their names is known.
func Parameters(names []string) []Parameter {
	var all []Parameter
	for _, name := range names {
		all = append(all, Parameter{Name: name})
	}
	return all
}

// DeclareArguments adds what the calls of a function in this text give to its parameters, in their order, or leave to
// their defaults. The parameters are visible in the body alone, which is what is indented more. It reports whether
// there is a call.
func (d *Names) DeclareArguments(f Function) bool {
	body := d.blocks.Body(d.Text, d.Line(f.At)-1, d.Line(f.End)-1)
	if body < 0 {
		return false
	}
	calls := 0
	for at := range d.Words(f.Name) {
		open := at + len(f.Name)
		for open < len(d.Code) && strings.IndexByte(" \t", d.Code[open]) >= 0 {
			open++
		}
		isOther := f.IsAlone && at > 0 && d.Code[at-1] == '.'
		if at == f.At || isOther || open == len(d.Code) || d.Code[open] != '(' {
			continue
		}
		if calls++; calls > MaxListeners {
			return true
		}
		spreads := d.spreads(open + 1)
		for i, p := range f.Parameters {
			value, ok := d.Argument(open+1, i, p.Name)
			if !ok && !spreads {
				value, ok = p.Default, p.Default.From < p.Default.To
			}
			if p.Name != "" && ok {
				d.byName[p.Name] = append(d.byName[p.Name], declaration{d.expression(value), body, true})
			}
		}
	}
	return calls > 0
}

// spreads reports whether the arguments of a call, from their offset, hold a list or a dictionary that gives several:
// *args, **options, ...args.
func (d *Names) spreads(from int) bool {
	each, _ := d.Arguments(from)
	return slices.ContainsFunc(each, func(at source.Span) bool {
		return at.From < at.To && (d.Code[at.From] == '*' || d.Code[at.From] == '.')
	})
}

// DeclareParameters adds the parameters of a function that nothing in this text calls. Calls in other files, where it
// has a name, give them something.
func (d *Names) DeclareParameters(name string, f Function) {
	body := d.blocks.Body(d.Text, d.Line(f.At)-1, d.Line(f.End)-1)
	for i, p := range f.Parameters {
		if body >= 0 && p.Name != "" {
			d.parameters = append(d.parameters, parameter{p.Name, argumentName(name, i), body})
		}
	}
}

// parameter is one that other files may give something to.
type parameter struct {
	name string
	// given is the name of what they give to it, and body the index of the block in which it is visible.
	given string
	body  int
}

// argumentName returns the name, for other files, of what calls give to the parameter of a function with a number.
func argumentName(function string, number int) string {
	return function + "(" + strconv.Itoa(number) + ")="
}

// isArgument matches what argumentName returns.
var isArgument = regexp.MustCompile(`\(\d+\)=$`)

// parameterOf returns what calls in other files give to a parameter, if that is what a name is.
func (d *Names) parameterOf(u Use) Name {
	for _, p := range d.parameters {
		if p.name == u.Path && d.blocks.Depth(p.body, d.Line(u.At)-1) > 0 {
			return Name{Path: p.given}
		}
	}
	return Name{}
}

// Given returns what the calls that a pattern matches give to functions of other files. The group "name" is how a
// function is called, and nameOf returns its name for other files, "" for none.
func (d *Names) Given(calls *regexp.Regexp, nameOf func(called string) string) []Declaration {
	var given []Declaration
	for _, m := range d.FindAll(calls, maxCalls) {
		called, _ := d.Group(calls, m, "name")
		function := nameOf(called)
		if function == "" {
			continue
		}
		each, _ := d.Arguments(m[1])
		for i, s := range each[:min(len(each), maxArguments)] {
			given = append(given, d.Declaration(argumentName(function, i), s))
		}
	}
	return given
}

// maxCalls is how many calls of functions of other files are read, and maxArguments how many arguments of each.
const (
	maxCalls     = 32
	maxArguments = 8
)
