package address

import (
	"slices"
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
// their defaults. The parameters are visible in the body alone, which is what is indented more.
func (d *Names) DeclareArguments(f Function) {
	body := d.blocks.Body(d.Text, d.Line(f.At)-1, d.Line(f.End)-1)
	if body < 0 {
		return
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
			return
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
}

// spreads reports whether the arguments of a call, from their offset, hold a list or a dictionary that gives several:
// *args, **options, ...args.
func (d *Names) spreads(from int) bool {
	each, _ := d.Arguments(from)
	return slices.ContainsFunc(each, func(at source.Span) bool {
		return at.From < at.To && (d.Code[at.From] == '*' || d.Code[at.From] == '.')
	})
}
