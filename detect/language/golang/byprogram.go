package golang

import (
	"maps"
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/language/golang/values"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// unsettled is a listener of a server, as it is made, whose address all programs of the app together do not settle.
type unsettled struct {
	listener
	in   addresses
	made values.Made
}

// addressesByProgram returns where the servers listen, by the place that makes a server and then by the directory of
// the program, of servers that several programs start: each may give its own address to a function that all of them
// call. What one program gives is not known if other code of its own gives something else.
func (f *flow) addressesByProgram(
	files []analyzer.File[Extra], lookup func(importPath string) (dir string, ok bool),
) map[plan.Place]map[string]plan.Address {
	if len(f.unsettled) == 0 || len(f.programs) < 2 || len(f.programs) > maxPrograms {
		return nil
	}
	w := importsOf(files, lookup)
	all := map[plan.Place]map[string]plan.Address{}
	for _, program := range slices.Sorted(maps.Keys(f.programs)) {
		reached := w.reach([]string{program})
		f.Within(program, func(dir string) bool { return reached[dir] })
		for _, l := range f.unsettled[:min(len(f.unsettled), maxPrograms)] {
			if !reached[path.Dir(l.of.Path)] {
				continue
			}
			if all[l.of.Place] == nil {
				all[l.of.Place] = map[string]plan.Address{}
			}
			a := f.addressOf(l.listener, l.in, l.made)
			if before, isOther := all[l.of.Place][program]; isOther && before != a {
				a = plan.Address{}
			}
			all[l.of.Place][program] = a
		}
	}
	f.Within("", nil)
	return all
}

// settle keeps a listener of a server for addressesByProgram if its address is not known.
func (f *flow) settle(l listener, in addresses, made values.Made) {
	if l.of != nil && l.says.Certainty == address.Unknown && l.says.Host != address.UnixSocket {
		f.unsettled = append(f.unsettled, unsettled{l, in, made})
	}
}

// giveAddresses adds to servers whose address is not known where each program of theirs makes them listen.
func giveAddresses(servers []plan.Server, byProgram map[plan.Place]map[string]plan.Address) {
	for i, s := range servers {
		if of := byProgram[s.Evidence]; len(of) > 1 && !s.Address.IsKnown() {
			servers[i].ByProgram = of
		}
	}
}
