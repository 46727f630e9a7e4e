package detect

import (
	"path"
	"slices"
	"strings"
)

// rustConclude makes a service of each file that makes a server.
func rustConclude(facts []fact, note func(format string, args ...any)) []Service {
	all := projects(rustWithoutTests(facts), itself)
	checks := slices.ContainsFunc(facts, func(f fact) bool { return rustOwnOf(f).checks })
	for _, p := range all {
		for _, u := range p.units {
			rustSettleHealth(u, checks)
		}
	}
	for _, p := range all {
		if slices.ContainsFunc(p.facts, func(f fact) bool { return rustOwnOf(f).workspace }) {
			rustJoin(rustMembers(p, all))
		}
	}
	return servers(all, note)
}

func rustOwnOf(f fact) rustOwn {
	own, _ := f.own.(rustOwn)
	return own
}

// rustSettleHealth takes a HealthServer for grpc.health.v1's where the tree has stubs of that package, or what they are made
// of; otherwise it is of a service of the app's own.
func rustSettleHealth(u *unit, checks bool) {
	u.signs = slices.DeleteFunc(u.signs, func(s placed) bool { return s.kind == rustHealthServer && !checks })
	for i := range u.signs {
		if u.signs[i].kind == rustHealthServer {
			u.signs[i].kind = health
		}
	}
}

// rustWithoutTests drops the files of modules that others declare for tests only.
func rustWithoutTests(facts []fact) []fact {
	tests := map[string]bool{}
	for _, f := range facts {
		for _, m := range rustOwnOf(f).tests {
			tests[m] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(facts), func(f fact) bool {
		for p := strings.TrimSuffix(f.path, ".rs"); p != "." && p != "/"; p = path.Dir(p) {
			if tests[p] {
				return true
			}
		}
		return false
	})
}

// rustMembers returns the crates of a workspace: all below it.
func rustMembers(workspace *project, all []*project) []*project {
	var members []*project
	for _, p := range all {
		if workspace.dir == "." || p == workspace || strings.HasPrefix(p.dir, workspace.dir+"/") {
			members = append(members, p)
		}
	}
	return members
}

// rustJoin takes a workspace's crates together where one makes a server: what the others implement, it serves, and a
// health service that they register is its own.
func rustJoin(members []*project) {
	serves := func(p *project) bool { return p.has(constructs) }
	if !slices.ContainsFunc(members, serves) {
		return
	}
	var helpers []*unit
	for _, p := range members {
		if serves(p) {
			continue
		}
		for _, u := range p.units {
			u.signs = slices.DeleteFunc(u.signs, func(s placed) bool { return s.kind != health })
			if len(u.signs) > 0 {
				helpers = append(helpers, u)
			}
		}
	}
	for _, p := range members {
		if serves(p) {
			p.units = append(p.units, helpers...)
		}
	}
}
