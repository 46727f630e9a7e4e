package analyzer

import (
	"cmp"
	"iter"
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Project holds the files below one manifest, such as a go.mod, down to the next manifest. The folder of the app is
// always a project, even without a manifest.
type Project[T any] struct {
	Dir string // "." for the app's folder
	// Packages are ordered by their first file.
	Packages []*Package
	// Files are ordered by path.
	Files []File[T]
	// IsProgram says that the project is a known program, with a server or without. Its declarations are for no other
	// program.
	IsProgram bool

	byPath map[string]*Package
}

// Package is the unit that makes servers: a file, or a package of files in languages with a program per package.
type Package struct {
	// Path is the file, or the directory of the package.
	Path string
	// Findings are the findings of the package's files.
	Findings []finding.Finding
	// Built says that the package is a built program or archive and no source.
	Built bool
}

// Projects groups the results of files, ordered by path, by project. packageOf returns the path of a file's package.
// The projects are ordered by directory.
func Projects[T any](files []File[T], packageOf func(path string) string) []*Project[T] {
	byDir := map[string]*Project[T]{".": newProject[T](".")}
	for _, f := range files {
		if dir := path.Dir(f.Path); f.ProjectRoot && byDir[dir] == nil {
			byDir[dir] = newProject[T](dir)
		}
	}
	for _, f := range files {
		for dir := range tree.Ancestors(f.Path) {
			if p := byDir[dir]; p != nil {
				p.add(f, packageOf(f.Path))
				break
			}
		}
	}
	var all []*Project[T]
	for _, p := range byDir {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *Project[T]) int { return cmp.Compare(a.Dir, b.Dir) })
	return all
}

// FileIsPackage is the packageOf of languages with a server per file.
func FileIsPackage(path string) string { return path }

func newProject[T any](dir string) *Project[T] {
	return &Project[T]{Dir: dir, byPath: map[string]*Package{}}
}

func (p *Project[T]) add(f File[T], name string) {
	p.Files = append(p.Files, f)
	in := p.byPath[name]
	if in == nil {
		in = &Package{Path: name, Built: f.Built}
		p.byPath[name] = in
		p.Packages = append(p.Packages, in)
	}
	in.Findings = append(in.Findings, f.Findings...)
}

// Manifest returns the extra facts of the manifest in the project's folder, or the zero value.
func (p *Project[T]) Manifest() (extra T) {
	for _, f := range p.Files {
		if f.ProjectRoot && path.Dir(f.Path) == p.Dir {
			return f.Extra
		}
	}
	return extra
}

// Package returns the package with a path, or nil.
func (p *Project[T]) Package(path string) *Package { return p.byPath[path] }

// Decide replaces each finding of each package by the findings that decide returns: none, the finding itself, or
// findings that the finding stands for.
func (p *Project[T]) Decide(decide func(in *Package, f finding.Finding) []finding.Finding) {
	for _, in := range p.Packages {
		var decided []finding.Finding
		for _, f := range in.Findings {
			decided = append(decided, decide(in, f)...)
		}
		in.Findings = decided
	}
}

// Drop leaves out the findings for which drops returns true.
func (p *Project[T]) Drop(drops func(f finding.Finding) bool) {
	for _, in := range p.Packages {
		in.Findings = slices.DeleteFunc(in.Findings, drops)
	}
}

// All yields the findings of all packages.
func (p *Project[T]) All() iter.Seq[finding.Finding] {
	return func(yield func(finding.Finding) bool) {
		for _, in := range p.Packages {
			for _, f := range in.Findings {
				if !yield(f) {
					return
				}
			}
		}
	}
}

// ProjectHas reports whether a package of a project has a finding of a type.
func ProjectHas[F finding.Finding, T any](p *Project[T]) bool {
	return slices.ContainsFunc(p.Packages, func(in *Package) bool { return finding.Has[F](in.Findings) })
}

// isAside reports whether all findings of the package lie beside the app proper, in examples, tools or tests.
func (in *Package) isAside() bool {
	isOwn := func(f finding.Finding) bool { return asideOf(f) == "" }
	return len(in.Findings) > 0 && !slices.ContainsFunc(in.Findings, isOwn)
}

// asideOf returns the directory beside the app proper around a finding, or "".
func asideOf(f finding.Finding) string {
	dir, _ := tree.Aside(finding.Where(f).Path)
	return dir
}

// Serves reports whether the package has evidence of a server.
func (in *Package) Serves() bool {
	for _, strength := range []plan.Strength{plan.Construction, plan.Registration, plan.Implementation} {
		if len(in.proofs(strength)) > 0 {
			return true
		}
	}
	return false
}

// DropBuilt leaves out built programs if a source of the app proper makes a server: the programs are built from the
// sources.
func DropBuilt[T any](all []*Project[T]) {
	servesFromSource := func(in *Package) bool { return !in.Built && !in.isAside() && in.Serves() }
	if !slices.ContainsFunc(all, func(p *Project[T]) bool {
		return slices.ContainsFunc(p.Packages, servesFromSource)
	}) {
		return
	}
	for _, p := range all {
		p.Packages = slices.DeleteFunc(p.Packages, func(in *Package) bool { return in.Built })
	}
}
