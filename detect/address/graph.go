package address

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
)

// Graph is what the files of an app declare for one another, and the one way from a name to an address: the module that
// it comes from, then the project of the file that uses it, then the app.
type Graph struct {
	// Module returns the file of a module that another file imports, "" for one that is not in the app. nil for a
	// language that imports no modules of the app.
	Module func(from, module string) string

	// IsFor reports whether what a file declares may be for the server that is asked for; nil if all of it may. What a
	// module is asked for by its name is for whoever asks.
	IsFor func(file string) bool

	// Processes are those that a Procfile starts.
	Processes procfile.Processes

	files    map[string]map[string][]Value // by path, then by name
	projects map[string]map[string][]placed
	app      map[string][]placed
	left     int
}

// placed is the value of a name in a file.
type placed struct {
	Value
	file string
	// isPart says that the name is not declared itself, but something that it may be a part of.
	isPart bool
}

const (
	// maxLookups is how many names are looked up for one address, and maxTotal for all of an app. Those of real apps
	// need a handful.
	maxLookups = 200
	maxTotal   = 200_000
	// maxSame is how many declarations of one name are looked at.
	maxSame = 256
)

// NewGraph returns a graph without declarations.
func NewGraph() *Graph {
	return &Graph{
		files: map[string]map[string][]Value{}, projects: map[string]map[string][]placed{},
		app: map[string][]placed{}, left: maxTotal,
	}
}

// Add adds what a file of a project, whose directory is its name, declares.
func (g *Graph) Add(project, file string, declared []Declaration) {
	for _, d := range declared {
		if d.Place.Path == "" {
			d.Place.Path = file
		}
		if g.files[file] == nil {
			g.files[file] = map[string][]Value{}
		}
		g.files[file][d.Name] = append(g.files[file][d.Name], d.Value)
		if g.projects[project] == nil {
			g.projects[project] = map[string][]placed{}
		}
		add(g.projects[project], d, file)
		if !ofProject.MatchString(d.Name) {
			add(g.app, d, file)
		}
	}
}

func add(to map[string][]placed, d Declaration, file string) {
	if len(to[d.Name]) < maxSame {
		to[d.Name] = append(to[d.Name], placed{Value: d.Value, file: file})
	}
}

// ofProject matches the names of fields and arguments that programs have for themselves. Constants and properties,
// which are written with capitals, may be those of a library.
var ofProject = regexp.MustCompile(`^\.[a-z_]|=$`)

// Resolve returns the address that a value of a file has in the end. What is not known stays unknown: a name with two
// values that differ, or with one that says nothing although the name is that of a port, has no address. What a process
// gives goes before what any file says.
func (g *Graph) Resolve(project, file string, v Value, by *Process) Address {
	if a, ok := by.given(v); ok {
		return a
	}
	a := g.resolve(project, file, v, by)
	if a.Variable != "" && a.Variable != v.Variable {
		if given, ok := by.given(Value{Address: a}); ok {
			return given
		}
	}
	return by.onHost(a, v)
}

// resolve is [Graph.Resolve] of a value that the process does not give itself.
func (g *Graph) resolve(project, file string, v Value, by *Process) Address {
	if v.Place.Path == "" {
		v.Place.Path = file
	}
	if len(v.Names) == 0 {
		return v.Address
	}
	r := resolution{Graph: g, process: by, project: project, left: min(maxLookups, g.left), seen: map[string]bool{}}
	defer func() { g.left -= maxLookups - r.left }()
	r.names(v.Names, file)
	r.replaced(0, v.Variable)
	switch a, ok := r.one(); {
	case ok:
		if a.Host == UnknownHost && len(r.hosts) == 1 {
			a.Host = r.hosts[0]
		}
		a.Host = cmp.Or(a.Host, v.Host)
		return a
	case v.Certainty == Unknown && v.Port != 0 && r.outside > 0 && r.outside == len(r.found):
		v.Certainty, v.Variable = Default, r.variable()
		return v.Address
	case len(r.found) > 0, v.IfCalled != "" && r.inProject(Name{Path: v.IfCalled}, file) == nil:
		return Address{Place: v.Place}
	}
	return v.Address
}

// resolution follows the names of one value.
type resolution struct {
	*Graph
	process *Process
	project string
	left    int
	seen    map[string]bool
	found   []Address
	hosts   []Host // those that calls give apart from a port
	outside int    // how many of those come from outside of the app and have no default
}

// portName matches the names of declarations that are ports: the last part says so. Without a port they may still get
// one when the program runs, whereas an address without a port is a host.
var portName = regexp.MustCompile(`(?i)port[^.]*$`)

// names collects the addresses of names that a file uses: those of modules, if none has one those of the project, and
// then those of the whole app.
func (r *resolution) names(all []Name, file string) {
	for _, scope := range []func(Name, string) []placed{r.inModule, r.inProject, r.inApp} {
		before := len(r.found)
		for _, n := range all {
			r.name(n, file, scope(n, file))
		}
		if len(r.found) > before {
			return
		}
	}
}

// inModule returns the declarations of a name of a module. A name that the module does not declare may be a part of one
// that it does: config.grpc.port of config.
func (r *resolution) inModule(n Name, file string) []placed {
	of := file
	if n.Module == "" {
		return nil
	} else if n.Module != ThisFile && r.Module != nil {
		of = r.Module(file, n.Module)
	}
	var values []placed
	for whole, left := n.Path, len(n.Path); len(values) == 0 && left >= 0; whole = whole[:max(left, 0)] {
		for _, v := range r.files[of][whole] {
			if whole != n.Path {
				v = v.part(n.Path, whole)
			}
			values = append(values, placed{v, of, whole != n.Path})
		}
		if left = strings.LastIndexByte(whole, '.'); left < 0 && whole != "" {
			left = 0
		}
	}
	return values
}

// part returns what the value of a name says of a longer one, which is a part of it: the value's names have that part
// too. A name that the longer one begins with leads back to it.
func (v Value) part(path, whole string) Value {
	var of Value
	for _, n := range v.Names {
		if n.Module != "" && (n.Module != ThisFile || !strings.HasPrefix(path, n.Path+".")) {
			part := strings.Trim(path[len(whole):], ".")
			of.Names = append(of.Names, Name{n.Module, strings.Trim(n.Path+"."+part, ".")})
		}
	}
	return of
}

func (r *resolution) inProject(n Name, _ string) []placed {
	return r.declared(r.projects[r.project], n)
}

func (r *resolution) inApp(n Name, _ string) []placed { return r.declared(r.app, n) }

// declared returns the declarations, for the server, of a name that reaches across files by itself. Of a part of
// something they are those with the longest end of its path that has any: ".settings.grpc.port", ".grpc.port", ".port".
func (g *Graph) declared(in map[string][]placed, n Name) []placed {
	if n.Module != "" {
		return nil
	}
	found, path := g.forServer(in[n.Path]), n.Path
	for len(found) == 0 && isField.MatchString(path) {
		dot := strings.IndexByte(path[1:], '.')
		if dot < 0 {
			break
		}
		path = path[1+dot:]
		found = g.forServer(in[path])
	}
	return found
}

// forServer returns those of declarations that may be for the server.
func (g *Graph) forServer(all []placed) []placed {
	if g.IsFor == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(p placed) bool { return !g.IsFor(p.file) })
}

// isField matches the name of what is reached as a field.
var isField = regexp.MustCompile(`^\.\w`)

// name collects the addresses of the declarations of a name that a file uses, each name once.
func (r *resolution) name(n Name, file string, declared []placed) {
	key := n.Path
	if n.Module != "" {
		key = strings.Join([]string{file, n.Module, n.Path}, "\n")
	}
	if r.left <= 0 || r.seen[key] {
		return
	}
	r.left--
	r.seen[key] = len(declared) > 0
	for _, d := range declared {
		before := len(r.found)
		if a, ok := r.process.given(d.Value); ok {
			r.found = append(r.found, a)
			continue
		}
		switch {
		case d.Certainty != Unknown && len(d.Names) == 0:
			r.found = append(r.found, d.Address)
		case len(d.Names) > 0:
			r.names(d.Names, d.file)
			if len(r.found) == before && d.Certainty != Unknown {
				r.found = append(r.found, d.Address)
			}
			r.replaced(before, d.Variable)
		}
		isPort := portName.MatchString(n.Path) || strings.HasPrefix(n.Path, ".[") || isArgument.MatchString(n.Path)
		isHost := isArgument.MatchString(n.Path) && d.Host != UnknownHost && d.Host != UnixSocket && d.Port == 0
		if isHost && !slices.Contains(r.hosts, d.Host) {
			r.hosts = append(r.hosts, d.Host)
		}
		if !isPort || isHost || d.isPart || len(r.found) > before {
			continue
		}
		r.found = append(r.found, Address{Host: d.Host, Place: d.Place, Variable: d.Variable})
		if d.Outside {
			r.outside++
		}
	}
}

// replaced says that an environment variable, "" for none, replaces what was found since then.
func (r *resolution) replaced(since int, variable string) {
	for i := since; variable != "" && i < len(r.found); i++ {
		f := &r.found[i]
		f.Certainty, f.Variable = min(f.Certainty, Default), cmp.Or(f.Variable, variable)
	}
}

// one returns the address that all have which were found. The certainty is that of the least sure of them.
func (r *resolution) one() (Address, bool) {
	if len(r.found) == 0 {
		return Address{}, false
	}
	one := r.found[0]
	for _, a := range r.found {
		if a.Target() != one.Target() || !a.IsKnown() {
			return Address{}, false
		}
		one.Certainty = min(one.Certainty, a.Certainty)
	}
	if one.Variable = r.variable(); !one.IsKnown() {
		return Address{}, false
	}
	return one, true
}

// variable returns the one environment variable that replaces what was found, "" if there are several.
func (r *resolution) variable() string {
	variable := ""
	for _, a := range r.found {
		if a.Variable != "" && variable != "" && a.Variable != variable {
			return ""
		}
		variable = cmp.Or(variable, a.Variable)
	}
	return variable
}
