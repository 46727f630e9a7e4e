package address

import (
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// DeclareStored declares the variables in which calls store what a text says, which is their first argument:
// int.TryParse(text, out var port), sscanf(text, "%d", &port). The pattern of a call ends with its opening bracket, and
// the group "name" of stored is the variable of a whole argument that is one.
func (d *Names) DeclareStored(call, stored *lazyregexp.Regexp) {
	for _, m := range d.FindAll(call, MaxListeners) {
		each, _ := d.Arguments(m[1])
		for _, argument := range each[1:] {
			in := source.Text{Raw: d.Raw[argument.From:argument.To], Code: d.Code[argument.From:argument.To]}
			for _, name := range in.Names(stored) {
				d.Declare(name, each[0])
			}
		}
	}
}
