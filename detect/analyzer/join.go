package analyzer

import (
	"cmp"
	"maps"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/finding"
)

// Join makes one project of two if one makes the server and the other one, its only user, has the services. It returns
// the projects that are left. mayUse says of a project that makes no server whether another one may make it, and
// makersFor returns the projects whose servers it uses.
func Join[T any](
	all []*Project[T], mayUse func(*Project[T]) bool, makersFor func(*Project[T]) []*Project[T],
) []*Project[T] {
	makers, users := map[*Project[T]][]*Project[T]{}, map[*Project[T]]int{}
	for _, p := range all {
		if ProjectHas[finding.Server](p) || !mayUse(p) {
			continue
		}
		makers[p] = makersFor(p)
		for _, q := range makers[p] {
			users[q]++
		}
	}
	return slices.DeleteFunc(all, func(p *Project[T]) bool {
		if len(makers[p]) != 1 || users[makers[p][0]] > 1 {
			return false
		}
		makers[p][0].join(p)
		return true
	})
}

func (p *Project[T]) join(of *Project[T]) {
	p.Packages = append(p.Packages, of.Packages...)
	slices.SortFunc(p.Packages, func(a, b *Package) int { return cmp.Compare(a.Path, b.Path) })
	p.Files = append(p.Files, of.Files...)
	slices.SortFunc(p.Files, func(a, b File[T]) int { return cmp.Compare(a.Path, b.Path) })
	maps.Copy(p.byPath, of.byPath)
}
