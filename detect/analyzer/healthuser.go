package analyzer

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/finding"
)

// maxUsers bounds the users of a library.
const maxUsers = 64

// GiveHealth gives the servers of a library the health services of the projects that use the library and add services
// to its servers. Health is unknown if some users have services and no health service. uses returns the projects that a
// project uses, directly or through other projects.
func GiveHealth[T any](all []*Project[T], uses func(*Project[T]) []*Project[T]) {
	users, used := map[*Project[T]][]*Project[T]{}, map[*Project[T]][]*Project[T]{}
	for _, p := range all {
		if ProjectHas[finding.Server](p) || !provides(p) {
			continue
		}
		used[p] = uses(p)
		for _, q := range used[p] {
			if len(users[q]) < maxUsers && ProjectHas[finding.Server](q) && !ProjectHas[finding.Health](q) {
				users[q] = append(users[q], p)
			}
		}
	}
	for _, q := range all {
		q.Packages = append(q.Packages, healthOfUsers(users[q], used)...)
	}
}

// provides reports whether a project has services.
func provides[T any](p *Project[T]) bool {
	return ProjectHas[finding.Health](p) || ProjectHas[finding.Implementation](p) || ProjectHas[finding.Registration](p)
}

// healthOfUsers returns the health services of projects that use a library, with their statuses.
func healthOfUsers[T any](users []*Project[T], used map[*Project[T]][]*Project[T]) []*Package {
	hasHealth := ProjectHas[finding.Health, T]
	lacksHealth := func(p *Project[T]) bool {
		isPartOfOne := func(q *Project[T]) bool { return hasHealth(q) && slices.Contains(used[q], p) }
		return !hasHealth(p) && !slices.ContainsFunc(used[p], hasHealth) && !slices.ContainsFunc(users, isPartOfOne)
	}
	isUnsure := slices.ContainsFunc(users, lacksHealth)
	var found []*Package
	for _, p := range users {
		given := &Package{Path: p.Dir}
		for f := range p.All() {
			switch f := f.(type) {
			case finding.Health:
				if f.Of = nil; isUnsure {
					f.Site = f.AsUnsure()
				}
				given.Findings = append(given.Findings, f)
			case finding.HealthStatus, finding.HealthDisabled:
				given.Findings = append(given.Findings, f)
			}
		}
		if len(given.Findings) > 0 {
			found = append(found, given)
		}
	}
	return found
}

// DoubtHealth makes the health of servers without a health service unknown if a project without a server has a health
// service. Languages whose build files are not read need this doubt: the uses between projects are unknown.
func DoubtHealth[T any](all []*Project[T]) {
	var given *finding.Health
	for _, p := range all {
		for _, in := range p.Packages {
			f, ok := finding.First[finding.Health](in.Findings)
			if ok && given == nil && !in.isAside() && !ProjectHas[finding.Server](p) {
				given = &finding.Health{Site: f.AsUnsure()}
			}
		}
	}
	for _, p := range all {
		if given != nil && ProjectHas[finding.Server](p) && !ProjectHas[finding.Health](p) {
			p.Packages = append(p.Packages, &Package{Path: given.Path, Findings: []finding.Finding{*given}})
		}
	}
}

// ShareHealth gives the project the health services and statuses that another project registers for the project.
func (p *Project[T]) ShareHealth(of *Project[T]) {
	for _, in := range of.Packages {
		given := slices.DeleteFunc(slices.Clone(in.Findings), func(f finding.Finding) bool {
			return !finding.Is[finding.Health](f) && !finding.Is[finding.HealthStatus](f)
		})
		p.Packages = append(p.Packages, &Package{Path: in.Path, Findings: given})
	}
}
