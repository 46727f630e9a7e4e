package address

import (
	"strings"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// DeclareLoops declares the variables of loops over lists that the text writes out. What is done with each element is
// done with the first one, so that is the value. The group "name" of the pattern is the variable, and the group "list"
// the name of a list; without that the elements of one begin after the match.
func (d *Names) DeclareLoops(loop *lazyregexp.Regexp) {
	for _, m := range d.FindAll(loop, MaxListeners) {
		name, at := declared(d.Text, loop, m)
		begin := m[1]
		if list, ok := d.Group(loop, m, "list"); ok && list != "" {
			begin = d.listBegin(list, at)
		}
		if begin == 0 {
			continue
		}
		if elements, _ := d.Arguments(begin); elements[0].From < elements[0].To {
			d.add(name, at, elements[0])
		}
	}
}

// listBegin returns where the elements of a list begin whose name is used at an offset; 0 if no list is written out, or
// if there are several.
func (d *Names) listBegin(name string, at int) int {
	values := d.Values(name, at)
	if len(values) != 1 {
		return 0
	}
	value := d.Trim(values[0])
	if value.From < value.To && strings.IndexByte("[({", d.Code[value.From]) >= 0 {
		return value.From + 1
	}
	return 0
}
