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
		http2 := p.has(nodeHTTP2)
		nest := p.has(nodeNestOptions) || slices.ContainsFunc(p.units, nodeNestController)
		for _, u := range p.units {
			u.nodeSettle(http2, nest)
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

// nodeNestController reports whether a unit implements a service for NestJS.
func nodeNestController(u *unit) bool {
	return slices.ContainsFunc(u.signs, func(s placed) bool { return s.kind == registers && s.framework == "nestjs" })
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
