package detect

import (
	"cmp"
	"iter"
	"path"
	"slices"
)

// project is what the files under one manifest say together, down to the next manifest. The folder of the app is one,
// manifest or not.
type project struct {
	dir   string // "." for the app's folder
	units []*unit
	facts []fact // by path
	unit  map[string]*unit

	shared shared
}

// shared is what the units of a project that make no server say for those that do, by the innermost folder around each
// that holds a server, or by ".": what lies in apps/orders speaks of the server there, what lies in libs of all.
type shared map[string]*said

// said is what lies in a folder, but not in one within that holds a server.
type said struct {
	health   *placed
	noHealth bool
	listens  []placed // nil where several servers could listen there
}

// unit is what is one server if it makes one: a file, or a package where a language builds programs of packages.
type unit struct {
	path  string // of the file, or the folder of the package
	signs []placed
	built bool
}

// placed is a sign and where it is.
type placed struct {
	Place
	sign
}

// projects puts facts whose values are sheets together, both ordered by path. unitOf returns the unit that a file
// belongs to.
func projects(facts []fact, unitOf func(path string) string) []*project {
	byDir := map[string]*project{".": newProject(".")}
	for _, f := range facts {
		if dir := path.Dir(f.path); f.root && byDir[dir] == nil {
			byDir[dir] = newProject(dir)
		}
	}
	for _, f := range facts {
		projectOf(byDir, f.path).add(f, unitOf(f.path))
	}
	var all []*project
	for _, p := range byDir {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *project) int { return cmp.Compare(a.dir, b.dir) })
	return all
}

// projectOf returns the innermost project around a file.
func projectOf(byDir map[string]*project, file string) *project {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if p := byDir[dir]; p != nil {
			return p
		}
	}
	return byDir["."]
}

// around yields the folders that a file is in, the innermost first and the app's, ".", last.
func around(file string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for dir := path.Dir(file); yield(dir) && dir != "."; {
			dir = path.Dir(dir)
		}
	}
}

// holders are folders that hold servers, and how many, with those in the folders within.
type holders map[string]int

func (h holders) add(server string) {
	for dir := range around(server) {
		h[dir]++
	}
}

// innermost returns the innermost folder around a file that holds a server, or ".".
func (h holders) innermost(file string) string {
	for dir := range around(file) {
		if h[dir] > 0 {
			return dir
		}
	}
	return "."
}

func newProject(dir string) *project { return &project{dir: dir, unit: map[string]*unit{}} }

func (p *project) add(f fact, name string) {
	p.facts = append(p.facts, f)
	u := p.unit[name]
	if u == nil {
		u = &unit{path: name, built: f.built}
		p.unit[name] = u
		p.units = append(p.units, u)
	}
	for _, s := range f.signs {
		u.signs = append(u.signs, placed{Place{f.path, s.line}, s})
	}
}

// itself is the unit of languages whose servers are files.
func itself(file string) string { return file }

// has reports whether a unit of the project has a sign of one of the kinds.
func (p *project) has(kinds ...kind) bool {
	return slices.ContainsFunc(p.units, func(u *unit) bool { return u.has(kinds...) })
}

func (u *unit) has(kinds ...kind) bool {
	_, ok := u.first(kinds...)
	return ok
}

// first returns the first sign of the first kind that there is one of.
func (u *unit) first(kinds ...kind) (placed, bool) {
	for _, k := range kinds {
		for _, s := range u.signs {
			if s.kind == k {
				return s, true
			}
		}
	}
	return placed{}, false
}

// servers makes a service of each unit that makes a server. Where no unit of a project does, its registrations and
// implementations imply one server, which a framework or a helper outside of the project makes.
func servers(all []*project, note func(format string, args ...any)) []Service {
	var services []Service
	for _, p := range all {
		p.share()
		services = append(services, p.services(false, note)...)
		services = append(services, p.services(true, note)...)
	}
	return services
}

// serversInFiles is conclude for languages whose signs need nothing from around their files.
func serversInFiles(facts []fact, note func(format string, args ...any)) []Service {
	return servers(projects(facts, itself), note)
}

// leaveOutBuilt drops what is built where a source makes a server: it is made of what the sources say.
func leaveOutBuilt(all []*project) {
	ofSource := func(u *unit) bool { return !u.built && u.has(constructs, registers) }
	if !slices.ContainsFunc(all, func(p *project) bool { return slices.ContainsFunc(p.units, ofSource) }) {
		return
	}
	for _, p := range all {
		p.units = slices.DeleteFunc(p.units, func(u *unit) bool { return u.built })
	}
}

func (p *project) services(built bool, note func(format string, args ...any)) []Service {
	lead := registers
	if slices.ContainsFunc(p.units, func(u *unit) bool { return u.built == built && u.has(constructs) }) {
		lead = constructs
	}
	var services []Service
	for _, u := range p.units {
		from, ok := u.first(lead)
		if !ok || u.built != built {
			continue
		}
		u.tell(note)
		if lead == registers && len(services) > 0 {
			continue
		}
		s := Service{Framework: from.framework, Evidence: from.Place, Built: built, Port: p.port(u, from)}
		s.Health, s.HealthEvidence = p.health(u, from)
		services = append(services, s)
	}
	return services
}

// tell notes the evidence that a unit holds.
func (u *unit) tell(note func(format string, args ...any)) {
	for _, s := range u.signs {
		if s.what != "" {
			note("evidence: %s: %s", s.Place, printable(s.what))
		}
	}
}

// share finds what is shared, once for all servers of the project: a tree may hold 100,000.
func (p *project) share() {
	held := holders{}
	var without []*unit
	for _, u := range p.units {
		if s, ok := u.first(constructs); ok {
			held.add(s.Path)
		} else {
			without = append(without, u)
		}
	}
	p.shared = shared{}
	for _, u := range without {
		for _, s := range u.signs {
			dir := held.innermost(s.Path)
			p.shared.take(dir, s, held[dir] <= 1)
		}
	}
}

// take adds a sign that lies in a folder, for one server alone or for several.
func (s shared) take(dir string, sign placed, one bool) {
	if s[dir] == nil {
		s[dir] = &said{}
	}
	switch in := s[dir]; {
	case sign.kind == health && in.health == nil:
		in.health = &sign
	case sign.kind == noHealth:
		in.noHealth = true
	case sign.kind == listens && one:
		in.listens = append(in.listens, sign)
	}
}

// of yields what is shared with a server, the innermost folder first.
func (s shared) of(server string) iter.Seq[*said] {
	return func(yield func(*said) bool) {
		for dir := range around(server) {
			if in := s[dir]; in != nil && !yield(in) {
				return
			}
		}
	}
}

// health looks for a registration in the server's own unit, then in those of its project that make no server (one beside
// another server is that server's).
func (p *project) health(u *unit, from placed) (Health, Place) {
	if s, ok := u.first(health); ok {
		return HealthRegistered, s.Place
	}
	off := u.has(noHealth)
	for in := range p.shared.of(from.Path) {
		if in.health != nil {
			return HealthRegistered, in.health.Place
		}
		off = off || in.noHealth
	}
	if from.automatic && !off {
		return HealthAutomatic, from.Place
	}
	return HealthMissing, Place{}
}

// port returns the one port that the unit names, or, where it names none, that the units without a server do which speak of
// this one alone (settings files); 0 where they name none or several, or listen on one that is not known.
func (p *project) port(u *unit, from placed) int {
	if u.has(listens) {
		return onePort(u.signs)
	}
	var beside []placed
	for in := range p.shared.of(from.Path) {
		beside = append(beside, in.listens...)
	}
	return onePort(beside)
}

func onePort(signs []placed) int {
	port := 0
	for _, s := range signs {
		if s.kind != listens {
			continue
		}
		if s.port == noPort || port != 0 && port != s.port {
			return 0
		}
		port = s.port
	}
	return port
}
