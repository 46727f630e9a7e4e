package address

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Graph is what the files of an app declare for one another, and the one way from a name to an address: the module that
// it comes from, then the project of the file that uses it, then the app.
type Graph struct {
	// Module returns the file of a module that another file imports, "" for one that is not in the app. nil for a
	// language that imports no modules of the app.
	Module func(from, module string) string

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
var ofProject = lazyregexp.New(`^\.[a-z_]|=$`)

// Asker is who asks a graph for an address: where its value stands, and what holds there.
type Asker struct {
	Project, File string
	// Process is what the server's process is given, nil for nothing.
	Process *Process
	// IsFor reports whether what a file declares may be for the server that is asked for; nil if all of it may. What a
	// module is asked for by its name is for whoever asks.
	IsFor func(file string) bool
}

// Resolve returns the address that a value has in the end, for who asks. What is not known stays unknown: a name with
// two values that differ, or with one that says nothing although the name is that of a port, has no address. What a
// process gives goes before what any file says.
func (g *Graph) Resolve(v Value, by Asker) Address {
	if a, ok := by.Process.given(v); ok {
		return a
	}
	a := g.resolve(v, by)
	if a.Variable != "" && a.Variable != v.Variable {
		if given, ok := by.Process.given(Value{Address: a}); ok {
			return given
		}
	}
	return by.Process.onHost(a, v)
}

// resolve is [Graph.Resolve] of a value that the process does not give itself.
func (g *Graph) resolve(v Value, by Asker) Address {
	if v.Place.Path == "" {
		v.Place.Path = by.File
	}
	if len(v.Names)+len(v.Given) == 0 {
		return v.Address
	}
	r := resolution{Graph: g, Asker: by, left: min(maxLookups, g.left), seen: map[string]bool{}}
	defer func() { g.left -= maxLookups - r.left }()
	r.names(v.Names, by.File)
	own := len(r.found)
	if r.names(v.Given, by.File); own == 0 && len(r.found) > 0 {
		r.found = append(r.found, v.Address)
	}
	r.replaced(0, v.Variable)
	isLeft := v.IfCalled != "" && r.inProject(Name{Path: v.IfCalled}, by.File) != nil
	switch a, ok := r.one(); {
	case r.isSet:
		return Address{Place: v.Place}
	case ok && isLeft && a.Target() != v.Target():
		return Address{Place: v.Place} // some calls give it, and others leave it to its default
	case (v.Certainty == Unknown || v.HoldsUnset) && v.Port != 0 && r.outside > 0 && r.outside == len(r.found):
		v.Certainty, v.Variable = Default, r.variable()
		return v.Address
	case ok:
		if a.Host == UnknownHost && len(r.hosts) == 1 {
			a.Host = r.hosts[0]
		}
		a.Host = cmp.Or(a.Host, v.Host)
		return a
	case len(r.found) > 0, v.IfCalled != "" && !isLeft:
		return Address{Place: v.Place}
	}
	return v.Address
}

// resolution follows the names of one value.
type resolution struct {
	*Graph
	Asker
	left    int
	seen    map[string]bool
	found   []Address
	hosts   []Host // those that calls give apart from a port
	outside int    // how many of those come from outside of the app and have no default
	isSet   bool   // by a source that sets an environment variable: see [SetVariable]
}

// portName matches the names of declarations that are ports: the last part says so. Without a port they may still get
// one when the program runs, whereas an address without a port is a host.
var portName = lazyregexp.New(`(?i)port[^.]*$`)

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
	switch named, isSettings := n.settingsFile(); {
	case n.Module == "":
		return nil
	case isSettings:
		if of = r.settingsFile(file, named); of == "" {
			return []placed{{Value: Value{}, file: file}}
		}
	case n.Module != ThisFile && r.Module != nil:
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

// settingsFile returns the file of settings that a source names by a path, which leads to it from one of the folders
// around the source; "" if none does, or several do.
func (g *Graph) settingsFile(from, named string) string {
	found := ""
	for dir := from; dir != "."; {
		dir = path.Dir(dir)
		switch file := path.Join(dir, named); {
		case g.files[file] == nil || !IsSettingsFile(named):
		case found != "":
			return ""
		default:
			found = file
		}
	}
	return found
}

// part returns what the value of a name says of a longer one, which is a part of it: the value's names have that part
// too. A name that the longer one begins with leads back to it.
func (v Value) part(path, whole string) Value {
	var of Value
	part := strings.Trim(path[len(whole):], ".")
	for _, n := range v.Names {
		switch {
		case isArgument.MatchString(n.Path):
			of.Names = append(of.Names, Name{Path: FieldName(n.Path, part)})
		case n.Module != "" && (n.Module != ThisFile || !strings.HasPrefix(path, n.Path+".")):
			of.Names = append(of.Names, Name{n.Module, strings.Trim(n.Path+"."+part, ".")})
		}
	}
	return of
}

func (r *resolution) inProject(n Name, _ string) []placed {
	return r.declared(r.projects[r.Project], n)
}

func (r *resolution) inApp(n Name, _ string) []placed { return r.declared(r.app, n) }

// declared returns the declarations, for the server, of a name that reaches across files by itself. Of a part of
// something they are those with the longest end of its path that has any: ".settings.grpc.port", ".grpc.port", ".port".
func (r *resolution) declared(in map[string][]placed, n Name) []placed {
	if n.Module != "" {
		return nil
	}
	found, path := r.forServer(in[n.Path]), n.Path
	if root, _, isPart := strings.Cut(strings.TrimPrefix(n.Path, "."), "."); isPart {
		if replaced := r.forServer(in[AnyOf(root).Name]); len(replaced) > 0 {
			return replaced
		}
	}
	for len(found) == 0 && isField.MatchString(path) {
		dot := strings.IndexByte(path[1:], '.')
		if dot < 0 {
			break
		}
		path = path[1+dot:]
		found = r.forServer(in[path])
	}
	if m := fieldOfArgument.FindStringSubmatch(n.Path); m != nil {
		for _, whole := range r.forServer(in[m[1]+")="]) {
			whole.Value = whole.part(m[2], "")
			found = append(slices.Clip(found), whole)
		}
	}
	return found
}

// AnyOf returns the declaration of a module whose variables may have other values than it declares.
func AnyOf(module string) Declaration { return Declaration{Name: "." + module + ".**"} }

// fieldOfArgument matches the name of a field of an argument, as [FieldName] returns it.
var fieldOfArgument = lazyregexp.New(`^(.*\(\w+)\.([\w.]+)\)=$`)

// forServer returns those of declarations that may be for the server.
func (r *resolution) forServer(all []placed) []placed {
	if r.IsFor == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(p placed) bool { return !r.IsFor(p.file) })
}

// isField matches the name of what is reached as a field.
var isField = lazyregexp.New(`^\.\w`)

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
		if a, ok := r.Process.given(d.Value); ok {
			r.found = append(r.found, a)
			continue
		}
		switch {
		case strings.HasPrefix(n.Path, "$") && d.Certainty == Unknown:
			r.isSet = true
		case d.Certainty != Unknown && len(d.Names) == 0:
			r.found = append(r.found, d.Address)
			r.names(d.Given, d.file)
		case len(d.Names) > 0:
			r.names(d.Names, d.file)
			if len(r.found) == before && d.Certainty != Unknown {
				r.found = append(r.found, d.Address)
			}
			r.replaced(before, d.Variable)
			r.names(d.Given, d.file)
		}
		_, isSetting := n.settingsFile()
		for i := before; strings.HasPrefix(n.Module, defaultSettings) && i < len(r.found); i++ {
			r.found[i].Certainty = min(r.found[i].Certainty, Default)
		}
		isPort := portName.MatchString(n.Path) || strings.HasPrefix(n.Path, ".[") || isArgument.MatchString(n.Path) ||
			isSetting && d.Place.Path == ""
		isHost := (isSetting || isArgument.MatchString(n.Path)) &&
			d.Host != UnknownHost && d.Host != UnixSocket && d.Port == 0
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
