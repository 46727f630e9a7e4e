package detect

import (
	"path"
	"slices"
)

// dotnetTree is what a tree's sources say together.
type dotnetTree struct {
	health map[string]bool // classes that implement the health service
	// implied is the kind of sign that stands for a server: the surest of those in the tree, or registers where a service
	// is mapped, or a server made, plainly.
	implied kind
}

// dotnetConclude makes a service of each project that maps services, and of each server of Grpc.Core.
func dotnetConclude(facts []fact, note func(format string, args ...any)) []Service {
	all := projects(facts, itself)
	all = slices.DeleteFunc(all, func(p *project) bool { return p.dotnet().test })
	t := dotnetKnow(all)
	for _, p := range all {
		t.settle(p)
	}
	dotnetShareHealth(all)
	leaveOutBuilt(all)
	services := servers(all, note)
	built := map[string]string{}
	for _, f := range facts {
		if said, ok := f.own.(dotnetProgram); ok {
			built[f.path] = said.language
		}
	}
	for i := range services {
		s := &services[i]
		if s.Language = dotnetLanguages[path.Ext(s.Evidence.Path)]; s.Built {
			s.Language = built[s.Evidence.Path]
		}
	}
	return services
}

// dotnet returns what a project's file says; that it is a program where there is none.
func (p *project) dotnet() dotnetProject {
	for _, f := range p.facts {
		if said, ok := f.own.(dotnetProject); ok && path.Dir(f.path) == p.dir {
			return said
		}
	}
	return dotnetProject{}
}

// dotnetShareHealth gives programs the health service that a library of the tree maps for those that are built with it, as
// the ServiceDefaults of .NET Aspire do.
func dotnetShareHealth(all []*project) {
	var shared []placed
	for _, p := range all {
		if !p.dotnet().library {
			continue
		}
		for _, u := range p.units {
			if s, ok := u.first(health); ok && shared == nil {
				s.what = "" // it is told of where it is
				shared = []placed{s}
			}
		}
	}
	for _, p := range all {
		if shared != nil && p.has(registers) {
			p.units = append(p.units, &unit{path: "libraries", signs: shared})
		}
	}
}

func dotnetKnow(all []*project) dotnetTree {
	t := dotnetTree{health: map[string]bool{"HealthServiceImpl": true}}
	for _, p := range all {
		for _, u := range p.units {
			for _, s := range u.signs {
				t.health[s.from] = t.health[s.from] || s.kind == dotnetIsHealth
			}
		}
	}
	t.implied = t.surest(all)
	return t
}

func (t dotnetTree) surest(all []*project) kind {
	has := map[kind]bool{}
	for _, p := range all {
		program := !p.dotnet().library
		for _, u := range p.units {
			for _, s := range u.signs {
				switch s.kind {
				case dotnetAdds, dotnetImplements:
					has[s.kind] = has[s.kind] || program
				default:
					has[s.kind] = true
				}
				has[registers] = has[registers] || !u.built && s.kind == constructs || t.mapsService(s)
			}
		}
	}
	switch {
	case has[registers]:
		return registers
	case has[dotnetMapsAny]:
		return dotnetMapsAny
	case has[dotnetAdds] && !has[dotnetDefines]:
		return dotnetAdds
	case has[dotnetImplements] && !has[dotnetPipes]:
		return dotnetImplements
	}
	return registers
}

// mapsService reports that a service of the app is mapped, not the health service.
func (t dotnetTree) mapsService(s placed) bool {
	return s.kind == dotnetMaps && !t.health[s.from]
}

// settle turns the signs that depend on what lies around them into general ones, or leaves them to nobody.
func (t dotnetTree) settle(p *project) {
	framework := p.dotnetFramework()
	kestrel, library := !p.has(constructs), p.dotnet().library
	for _, u := range p.units {
		for i := range u.signs {
			switch s := &u.signs[i]; {
			case s.kind == dotnetMaps && t.health[s.from]:
				s.kind = health
			case s.kind == dotnetMaps, s.kind == dotnetMapsAny && t.implied == dotnetMapsAny:
				s.kind, s.framework = registers, framework
			case s.kind == t.implied && s.kind >= ownKinds && !library:
				s.kind = registers
			case s.kind == dotnetKestrel && kestrel:
				s.kind = listens
			}
		}
	}
}

// dotnetFramework returns the framework whose services are mapped by MapGrpcService in the project.
func (p *project) dotnetFramework() string {
	for _, u := range p.units {
		if slices.ContainsFunc(u.signs, func(s placed) bool { return s.kind == dotnetAdds && s.framework == dotnetCodeFirst }) {
			return dotnetCodeFirst
		}
	}
	return dotnetAspNetCore
}
