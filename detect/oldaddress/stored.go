package address

import "github.com/grpc-cnb/health-probe/internal/lazyregexp"

// DeclareStored declares the variables in which calls store what a text says, which is their first argument:
// int.TryParse(text, out var port), sscanf(text, "%d", &port). The pattern of a call ends with its opening bracket, and
// the first group of stored is the variable of a whole argument that is one.
func (d *Names) DeclareStored(call, stored *lazyregexp.Regexp) {
	for _, m := range d.FindAll(call, MaxListeners) {
		each, _ := d.Arguments(m[1])
		for _, argument := range each[1:] {
			if name := stored.FindSubmatch(d.Code[argument.From:argument.To]); name != nil {
				d.Declare(string(name[1]), each[0])
			}
		}
	}
}
