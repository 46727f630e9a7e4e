package address

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// DeclareFunction adds what a function returns: an expression, or a body that states one port.
func (d *Names) DeclareFunction(name string, body source.Span) {
	d.byName[name+"()"] = append(d.byName[name+"()"], declaration{d.expression(body), 0, false})
}

// DeclareArguments adds what the calls of a function in this text give to its parameters, in their order; "" stands for
// a parameter that is of no interest. The name of the function stands at one offset, and its parameters end at another.
// The parameters are visible in the body alone, which is what is indented more. It reports whether there is a call.
func (d *Names) DeclareArguments(function string, definedAt, parametersEnd int, parameters []string) bool {
	body := d.blocks.Body(d.Text, d.Line(definedAt)-1, d.Line(parametersEnd)-1)
	if body < 0 {
		return false
	}
	calls := 0
	for at := range d.Words(function) {
		open := at + len(function)
		for open < len(d.Code) && strings.IndexByte(" \t", d.Code[open]) >= 0 {
			open++
		}
		if at == definedAt || open == len(d.Code) || d.Code[open] != '(' {
			continue
		}
		if calls++; calls > MaxListeners {
			return true
		}
		for i, name := range parameters {
			value, ok := d.Argument(open+1, i, name)
			if name != "" && ok {
				d.byName[name] = append(d.byName[name], declaration{d.expression(value), body, true})
			}
		}
	}
	return calls > 0
}

// DeclareParameters adds the parameters of a function that nothing in this text calls, as [Names.DeclareArguments]
// takes them. Calls in other files give them something.
func (d *Names) DeclareParameters(function string, definedAt, parametersEnd int, parameters []string) {
	body := d.blocks.Body(d.Text, d.Line(definedAt)-1, d.Line(parametersEnd)-1)
	for i, name := range parameters {
		if body >= 0 && name != "" {
			d.parameters = append(d.parameters, parameter{name, argumentName(function, i), body})
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
