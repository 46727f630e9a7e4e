package address

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// DeclareFunction adds what a function returns: an expression, or a body that states one port.
func (d *Names) DeclareFunction(name string, body source.Span) {
	d.byName[name+"()"] = append(d.byName[name+"()"], declaration{d.expression(body), 0, false})
}

// DeclareArguments adds what the calls of a function in this text give to its parameters, in their order; "" stands for
// a parameter that is of no interest. The name of the function stands at one offset, and its parameters end at another.
// The parameters are visible in the body alone, which is what is indented more.
func (d *Names) DeclareArguments(function string, definedAt, parametersEnd int, parameters []string) {
	body := d.blocks.Body(d.Text, d.Line(definedAt)-1, d.Line(parametersEnd)-1)
	if body < 0 {
		return
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
			return
		}
		for i, name := range parameters {
			value, ok := d.Argument(open+1, i, name)
			if name != "" && ok {
				d.byName[name] = append(d.byName[name], declaration{d.expression(value), body, true})
			}
		}
	}
}
