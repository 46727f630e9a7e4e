package detect

import (
	"path"
	"slices"
	"strings"
)

// goTree is what a tree's Go files say beside their signs.
type goTree struct {
	modules map[string]*project // by module path
	stubs   map[string]bool     // folders with generated stubs
	imports map[string][]string // of packages that say something, by folder
}

// goConclude makes a service of each package that makes a server.
func goConclude(facts []fact, note func(format string, args ...any)) []Service {
	all := projects(facts, goUnit)
	t := goTree{map[string]*project{}, map[string]bool{}, map[string][]string{}}
	for _, p := range all {
		t.know(p)
	}
	for _, p := range all {
		http2 := slices.ContainsFunc(p.units, goServesHTTP2)
		plain := p.has(constructs, registers)
		for _, u := range p.units {
			t.settle(u, http2, plain, p.goWithoutGRPC())
		}
	}
	for _, p := range all {
		t.join(p)
		t.borrow(p)
	}
	goImply(all)
	return servers(all, note)
}

// goImply makes servers of health registrations where nothing else in the tree speaks of one: the framework that makes it
// lies outside.
func goImply(all []*project) {
	if slices.ContainsFunc(all, func(p *project) bool { return p.has(constructs, registers) }) {
		return
	}
	for _, p := range all {
		for _, u := range p.units {
			for _, s := range u.signs {
				if s.kind == health && strings.HasSuffix(s.what, "RegisterHealthServer") {
					s.kind, s.framework, s.what = registers, "grpc-go", ""
					u.signs = append(u.signs, s)
				}
			}
		}
	}
}

// borrow gives packages that make a server the health registration of the helper packages that they import from other
// modules of the tree.
func (t goTree) borrow(p *project) {
	for _, u := range p.units {
		if u.built || !u.has(constructs, registers) {
			continue
		}
		for _, imported := range t.imports[u.path] {
			folder, module, here := t.folderOf(imported)
			if !here || module == p || module.unit[folder] == nil || module.unit[folder].has(constructs) {
				continue
			}
			if s, ok := module.unit[folder].first(health); ok {
				s.what = "" // it is told of where it is
				u.signs = append(u.signs, s)
			}
		}
	}
}

// goUnit is the package of a source, that of the program beside whose folder etc its settings lie, and a program itself.
func goUnit(file string) string {
	if path.Base(path.Dir(file)) == "etc" && strings.HasSuffix(file, ".yaml") {
		return path.Dir(path.Dir(file))
	}
	if strings.HasSuffix(file, ".go") {
		return path.Dir(file)
	}
	return file
}

func (t goTree) know(p *project) {
	for _, f := range p.facts {
		switch own := f.own.(type) {
		case goModule:
			if t.modules[own.path] == nil {
				t.modules[own.path] = p
			}
		case goStub:
			t.stubs[path.Dir(f.path)] = true
		case goPackages:
			t.imports[path.Dir(f.path)] = append(t.imports[path.Dir(f.path)], own...)
		}
	}
}

// goWithoutGRPC reports whether the project's go.mod, which lists what its dependencies need too, has no gRPC.
func (p *project) goWithoutGRPC() bool {
	for _, f := range p.facts {
		if own, ok := f.own.(goModule); ok {
			return own.path != "" && !own.grpc
		}
	}
	return false
}

// goServesHTTP2 reports whether a package serves HTTP/2. http.Protocols is a client's too: only beside a server it is the
// server's.
func goServesHTTP2(u *unit) bool {
	return u.has(goHTTP2) || u.has(goUnencrypted) && u.has(goHTTPServer)
}

// settle turns the signs that depend on what lies around them into general ones, or drops them. A port for HTTP is gRPC's
// where no plain gRPC server is in the module.
func (t goTree) settle(u *unit, http2, plain, withoutGRPC bool) {
	u.signs = slices.DeleteFunc(u.signs, func(s placed) bool { return t.contradicted(s, http2, withoutGRPC) })
	for i := range u.signs {
		switch s := &u.signs[i]; {
		case s.kind == goKitex, s.kind == goHandles:
			s.kind = constructs
		case s.kind == goListensHTTP && !plain:
			s.kind = listens
		}
	}
}

// contradicted reports signs that are not gRPC's: a RegisterXServer that is the app's own function, or anybody's in a
// module that does not depend on gRPC, a Kitex server whose stubs are not protobuf's, a connect handler that no HTTP/2 server is there for.
func (t goTree) contradicted(s placed, http2, withoutGRPC bool) bool {
	switch s.kind {
	case registers:
		dir, _, here := t.folderOf(s.from)
		return here && !t.stubs[dir] || !here && withoutGRPC
	case goKitex:
		dir, _, here := t.folderOf(path.Dir(s.from))
		return !here || !t.stubs[dir]
	case goHandles:
		return !http2
	}
	return false
}

// join takes a program whose sources are here, and serve, for what it is: no service of its own. It may know of a health
// registration that a helper outside of the tree makes.
func (t goTree) join(p *project) {
	for _, f := range p.facts {
		program, ok := f.own.(goBinary)
		if !ok {
			continue
		}
		u := p.unit[f.path]
		_, module, here := t.folderOf(program.main)
		if !here || !slices.ContainsFunc(module.units, func(u *unit) bool { return !u.built && u.has(constructs, registers) }) {
			continue
		}
		u.signs = slices.DeleteFunc(u.signs, func(s placed) bool { return s.kind == constructs })
		if module != p {
			module.units = append(module.units, u)
		}
	}
}

// folderOf returns the folder in the tree of the package with this import path, and its module.
func (t goTree) folderOf(importPath string) (string, *project, bool) {
	for p := importPath; p != "." && p != "/" && p != ""; p = path.Dir(p) {
		if module := t.modules[p]; module != nil {
			return path.Join(module.dir, strings.TrimPrefix(importPath, p)), module, true
		}
	}
	return "", nil, false
}
