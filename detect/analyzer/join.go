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

// Makers are the files that make servers, with their projects.
type Makers[T any] map[string]*Project[T]

// maxMakers is how many files of an app that make servers are looked at for the projects that use them.
const maxMakers = 100

// MakersOf returns the makers of projects.
func MakersOf[T any](all []*Project[T]) Makers[T] {
	m := Makers[T]{}
	for _, p := range all {
		for _, in := range p.Packages {
			if len(m) < maxMakers && finding.Has[finding.Server](in.Findings) {
				m[in.Path] = p
			}
		}
	}
	return m
}

// In returns the projects of files of which a function says so.
func (m Makers[T]) In(isOne func(file string) bool) []*Project[T] {
	var found []*Project[T]
	for _, file := range slices.Sorted(maps.Keys(m)) {
		if isOne(file) && !slices.Contains(found, m[file]) {
			found = append(found, m[file])
		}
	}
	return found
}

func (p *Project[T]) join(of *Project[T]) {
	p.Packages = append(p.Packages, of.Packages...)
	slices.SortFunc(p.Packages, func(a, b *Package) int { return cmp.Compare(a.Path, b.Path) })
	p.Files = append(p.Files, of.Files...)
	slices.SortFunc(p.Files, func(a, b File[T]) int { return cmp.Compare(a.Path, b.Path) })
	maps.Copy(p.byPath, of.byPath)
}
