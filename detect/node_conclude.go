package detect

import (
	"path"
	"slices"
	"strings"
)

// nodeConclude makes a service of each file that makes a server.
func nodeConclude(facts []fact, note func(format string, args ...any)) []Service {
	all := projects(facts, itself)
	for _, p := range all {
		http2 := p.nodeReach(nodeServesHTTP2, nodeConnects)
		nest := p.nodeReach(nodeNestGRPC, constructs, nodeNestServes)
		for _, u := range p.units {
			u.nodeSettle(http2(u.path), nest(u.path))
		}
	}
	leaveOutBuilt(all)
	services := servers(all, note)
	for i := range services {
		switch strings.ToLower(path.Ext(services[i].Evidence.Path)) {
		case ".ts", ".mts", ".cts":
			services[i].Language = "typescript"
		}
	}
	return services
}

// nodeReach returns what reports whether a unit that speaks of servers speaks of the one in a file: in a monorepo, what
// lies in one app is not for another's. servers are the kinds of signs that servers have.
func (p *project) nodeReach(speaks func(u *unit) bool, servers ...kind) func(file string) bool {
	held, reached := holders{}, map[string]bool{}
	for _, u := range p.units {
		if u.has(servers...) {
			held.add(u.path)
		}
	}
	for _, u := range p.units {
		if speaks(u) {
			reached[held.innermost(u.path)] = true
		}
	}
	return func(file string) bool {
		for dir := range around(file) {
			if reached[dir] {
				return true
			}
		}
		return false
	}
}

func nodeServesHTTP2(u *unit) bool { return u.has(nodeHTTP2) }

// nodeNestGRPC reports whether a unit has options of NestJS for gRPC, or implements a service for it.
func nodeNestGRPC(u *unit) bool {
	return u.has(nodeNestOptions) ||
		slices.ContainsFunc(u.signs, func(s placed) bool { return s.kind == registers && s.framework == "nestjs" })
}

// nodeSettle turns the signs that depend on what else the project holds into general ones: connect's handlers serve gRPC
// over HTTP/2 alone, and a NestJS microservice whose options stand elsewhere serves it if options or controllers for gRPC
// are there.
func (u *unit) nodeSettle(http2, nest bool) {
	for i := range u.signs {
		switch s := &u.signs[i]; {
		case s.kind == nodeConnects && http2, s.kind == nodeNestServes && nest:
			s.kind = constructs
		case s.kind == nodeListensHTTP && http2:
			s.kind = listens
		}
	}
}
