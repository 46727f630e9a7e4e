package analyzer

import (
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Constant is a name that one file declares and others may use to say where a server listens: a constant, a field with
// a default, a function that returns a port.
type Constant struct {
	// Name is how [address.Names.Undeclared] writes it: "NAME", ".field", "function()"; or "name=" for what calls
	// give to a parameter.
	Name string
	// Port is address.UnknownPort where the file does not state one.
	Port int
	Line int
	// Names are what the port depends on, where the file does not state it.
	Names []string
}

// NewConstant returns the constant of a name whose value is an expression of a text.
func NewConstant(d *address.Names, name string, value source.Span) Constant {
	port := d.Port(value)
	c := Constant{Name: name, Port: port.Number, Line: d.Line(port.At)}
	if port.Number == address.UnknownPort {
		c.Names = d.Undeclared(value)
	}
	return c
}

// NewOpenListener is NewListener for an address that may depend on names of other files: [ResolveListeners] gives it
// the port that these declare. global returns the constant that a name which the text does not declare stands for, or
// "" where no other file can declare it.
func NewOpenListener(d *address.Names, where source.Span, global func(name string) string) Finding {
	f := NewListener(d.Text, d.Port(where))
	if f.Port != address.UnknownPort {
		return f
	}
	var names []string
	for _, name := range d.Undeclared(where) {
		if constant := global(name); constant != "" && !slices.Contains(names, constant) {
			names = append(names, constant)
		}
	}
	f.ImportPath = strings.Join(names, " ")
	return f
}

// ResolveListeners gives the listeners of [NewOpenListener] the one port that the constants of their project state for
// their names, and its place. Where the project has none of the constants, those of all projects count, but for names
// that every program may have: args.port.
func ResolveListeners[T any](projects []*Project[T], constantsOf func(f File[T]) []Constant) {
	everywhere := constantIndex{}
	within := map[*Project[T]]constantIndex{}
	for _, p := range projects {
		within[p] = constantIndex{}
		for _, f := range p.Files {
			for _, c := range constantsOf(f) {
				within[p].add(f.Path, c)
				if !ofProject.MatchString(c.Name) {
					everywhere.add(f.Path, c)
				}
			}
		}
	}
	for _, p := range projects {
		p.Resolve(func(_ *Package, f Finding) (Finding, bool) {
			if f.Kind != Listener || f.Port != address.UnknownPort || f.ImportPath == "" {
				return f, true
			}
			names := strings.Fields(f.ImportPath)
			for _, index := range []constantIndex{within[p], everywhere} {
				if found := index.ports(names, map[string]bool{}); len(found) > 0 {
					return onlyConstant(f, found), true
				}
			}
			return f, true
		})
	}
}

// ofProject matches the names of fields and arguments that programs have for themselves. Constants and properties,
// which are written with capitals, may be those of a library.
var ofProject = regexp.MustCompile(`^\.[a-z_]|=$`)

// onlyConstant returns a listener with the port that all constants state, or unchanged where they differ.
func onlyConstant(f Finding, found []placedConstant) Finding {
	for _, c := range found {
		if c.Port != found[0].Port {
			return f
		}
	}
	if found[0].Port != address.UnknownPort {
		f.Port, f.Place = found[0].Port, plan.Place{Path: found[0].path, Line: found[0].Line}
	}
	return f
}

// constantIndex are constants by their names.
type constantIndex map[string][]placedConstant

type placedConstant struct {
	Constant
	path string
}

func (index constantIndex) add(path string, c Constant) {
	index[c.Name] = append(index[c.Name], placedConstant{c, path})
}

// portName matches the names of constants that are ports. Without a port they may still get one when the program runs,
// whereas an address without a port is a host.
var portName = regexp.MustCompile(`(?i)port`)

// ports returns the constants of names that state a port, and those that are a port which is not stated. seen are the
// names that were followed before.
func (index constantIndex) ports(names []string, seen map[string]bool) []placedConstant {
	var found []placedConstant
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		for _, c := range index[name] {
			before := len(found)
			if c.Port != address.UnknownPort {
				found = append(found, c)
			} else {
				found = append(found, index.ports(c.Names, seen)...)
			}
			if len(found) == before && portName.MatchString(name) {
				found = append(found, c)
			}
		}
	}
	return found
}
