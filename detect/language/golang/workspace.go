package golang

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/values"
)

type project = analyzer.Project[Extra]

// workspace is all modules of an app, and how their packages import each other.
type workspace struct {
	// lookup returns the directory of the package with an import path. It reports whether it is in the app.
	lookup  func(importPath string) (dir string, ok bool)
	modules map[string]*project // by module path
	// What the directories hold: code that protoc-gen-go generated, code that protoc-gen-connect-go did, any Go.
	protos, connects, sources map[string]bool
	// servers are the directories of packages that construct servers, evident those and of packages that register
	// services, and withServers those of all packages of the programs that have one of these: see isBeside.
	servers, evident map[string]bool
	withServers      func() map[string]bool

	imports   map[string][]string // import paths by directory of the importing package
	mains     map[string]bool     // the directories of packages main
	mainFiles map[string]bool     // the sources of packages main
	functions map[string][]int    // see Extra, by source
	used      map[string]bool     // the directories of packages main and of all that these import
}

func newWorkspace(all []*project, lookup func(importPath string) (dir string, ok bool)) workspace {
	w := workspace{
		lookup: lookup, modules: map[string]*project{}, protos: map[string]bool{}, connects: map[string]bool{},
		sources: map[string]bool{}, servers: map[string]bool{}, imports: map[string][]string{},
		mains: map[string]bool{}, mainFiles: map[string]bool{},
		functions: map[string][]int{}, evident: map[string]bool{},
	}
	for _, p := range all {
		for _, f := range p.Files {
			dir := path.Dir(f.Path)
			if module := f.Extra.ModulePath; module != "" && w.modules[module] == nil {
				w.modules[module] = p
			}
			w.protos[dir] = w.protos[dir] || f.Extra.GeneratedProto
			w.connects[dir] = w.connects[dir] || f.Extra.GeneratedConnect
			w.sources[dir] = w.sources[dir] || len(f.Extra.Imports) > 0
			w.servers[dir] = w.servers[dir] || finding.Has[finding.Server](f.Findings)
			w.evident[dir] = w.evident[dir] || slices.ContainsFunc(f.Findings, isEvident)
			if f.Extra.Functions != nil {
				w.functions[f.Path] = f.Extra.Functions
			}
			w.imports[dir] = append(w.imports[dir], f.Extra.Imports...)
			if f.Extra.Main {
				w.mains[dir], w.mainFiles[f.Path] = true, true
			}
		}
	}
	w.used = w.reach(slices.Collect(maps.Keys(w.mains)))
	w.withServers = sync.OnceValue(w.reachedWithServers)
	return w
}

// moduleOf returns the module of the package with an import path, or nil if it is not in the app.
func (w workspace) moduleOf(importPath string) *project {
	for p := importPath; p != "." && p != "/" && p != ""; p = path.Dir(p) {
		if module := w.modules[p]; module != nil {
			return module
		}
	}
	return nil
}

// reach returns the directories and those of all packages of the app that they import, and that these import.
func (w workspace) reach(from []string) map[string]bool {
	return closure(from, func(dir string) []string {
		var imported []string
		for _, importPath := range w.imports[dir] {
			if dir, ok := w.lookup(importPath); ok {
				imported = append(imported, dir)
			}
		}
		return imported
	})
}

// closure returns directories and all that next leads to from them.
func closure(from []string, next func(dir string) []string) map[string]bool {
	reached := map[string]bool{}
	for left := slices.Clone(from); len(left) > 0; {
		dir := left[len(left)-1]
		left = left[:len(left)-1]
		if !reached[dir] {
			reached[dir] = true
			left = append(left, next(dir)...)
		}
	}
	return reached
}

// importsServer reports whether a package imports one that constructs a server.
func (w workspace) importsServer(in *analyzer.Package) bool {
	return slices.ContainsFunc(w.imports[in.Path], func(importPath string) bool {
		dir, ok := w.lookup(importPath)
		return ok && w.servers[dir]
	})
}

// isEvident reports whether a finding is one of a server, or may be.
func isEvident(f finding.Finding) bool {
	switch f.(type) {
	case finding.Server, registration, connectHandler, kitexServer, kitexBareServer, kitexRegistration, healthGiven:
		return true
	}
	return false
}

// maxReaching is how many programs an app has at most of which it is looked at what each imports.
const maxReaching = 64

// isBeside reports whether a package belongs to programs alone that neither have a server nor import, in whatever way,
// a package with one: where it listens is nothing that a server of another program listens on. Without a go.mod it is
// not known what a program imports.
func (w workspace) isBeside(in *analyzer.Package) bool {
	if len(w.modules) == 0 || len(w.mains) > maxReaching || !w.used[in.Path] {
		return false
	}
	return !w.withServers()[in.Path]
}

// reachedWithServers returns the directories of all packages of the programs that have a server, or may.
func (w workspace) reachedWithServers() map[string]bool {
	all := map[string]bool{}
	for main := range w.mains {
		reached := w.reach([]string{main})
		for dir := range reached {
			if w.evident[dir] {
				maps.Copy(all, reached)
				break
			}
		}
	}
	return all
}

// leaveOutUnused leaves out the findings in packages of a module that no program of the app imports: only tests use
// them, or programs of others. Without a go.mod it is not known which directory an import path means.
func (w workspace) leaveOutUnused(p *project) {
	isModule := slices.ContainsFunc(p.Files, func(f analyzer.File[Extra]) bool { return f.Extra.ModulePath != "" })
	if !isModule {
		return
	}
	for _, in := range p.Packages {
		if !in.Built && w.sources[in.Path] && !w.used[in.Path] {
			in.Findings = nil
		}
	}
}

// usedBy returns a function that reports whether a program of the app imports the package in a directory, directly or
// not. If the app has no program, all its packages may be used.
func usedBy(files []analyzer.File[Extra], lookup func(importPath string) (dir string, ok bool)) func(dir string) bool {
	w := importsOf(files, lookup)
	used := w.reach(slices.Collect(maps.Keys(w.mains)))
	return func(dir string) bool { return len(w.mains) == 0 || used[dir] }
}

// importsOf returns a workspace that knows its programs and how packages import each other, and nothing else.
func importsOf(files []analyzer.File[Extra], lookup func(importPath string) (dir string, ok bool)) workspace {
	w := workspace{lookup: lookup, imports: map[string][]string{}, mains: map[string]bool{}}
	for _, f := range files {
		dir := path.Dir(f.Path)
		w.imports[dir] = append(w.imports[dir], f.Extra.Imports...)
		if f.Extra.Main {
			w.mains[dir] = true
		}
	}
	return w
}

// leaveOutTestHelpers leaves out the findings in packages with the names of such that tests use, unless a program
// imports them: an emulator may serve what tests of others need.
func leaveOutTestHelpers(files []analyzer.File[Extra], lookup func(importPath string) (dir string, ok bool)) {
	if !slices.ContainsFunc(files, servesTests) {
		return
	}
	imported := map[string]bool{}
	for _, f := range files {
		for _, importPath := range f.Extra.Imports {
			if dir, ok := lookup(importPath); ok && f.Extra.Main {
				imported[dir] = true
			}
		}
	}
	for i, f := range files {
		if !servesTests(f) || imported[path.Dir(f.Path)] {
			continue
		}
		if files[i].Findings = nil; !values.IsWorthKeeping(path.Base(f.Path), f.Extra.Text, false) {
			files[i].Extra.Text = nil
		}
	}
}

// servesTests reports whether a file has findings in a package with the name of one that tests use.
func servesTests(f analyzer.File[Extra]) bool { return f.Extra.TestHelper && f.Findings != nil }

// lookupIn returns a function that returns the directory of the package with an import path, and whether it is in the
// app.
func lookupIn(files []analyzer.File[Extra]) func(importPath string) (string, bool) {
	modules := map[string]string{}
	for _, f := range files {
		if module := f.Extra.ModulePath; module != "" {
			modules[module] = path.Dir(f.Path)
		}
	}
	return func(importPath string) (string, bool) {
		for p := importPath; p != "." && p != "/" && p != ""; p = path.Dir(p) {
			if dir, ok := modules[p]; ok {
				return path.Join(dir, strings.TrimPrefix(importPath, p)), true
			}
		}
		return "", false
	}
}
