package golang

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
)

type project = analyzer.Project[Extra]

// workspace is all modules of an app, and how their packages import each other.
type workspace struct {
	// lookup returns the directory of the package with an import path. It reports whether it is in the app.
	lookup  func(importPath string) (dir string, ok bool)
	modules map[string]*project // by module path
	// What the directories hold: code that protoc-gen-go generated, code that protoc-gen-connect-go did, any Go, and
	// packages with the names of such that tests use.
	protos, connects, sources, helpers map[string]bool

	imports   map[string][]string // import paths by directory of the importing package
	importers map[string][]string // directories of importing packages by that of the imported one
	mains     map[string]bool     // the directories of packages main
	mainFiles map[string]bool     // the sources of packages main
	used      map[string]bool     // the directories of packages main and of all that these import
}

func newWorkspace(all []*project, lookup func(importPath string) (dir string, ok bool)) workspace {
	w := workspace{
		lookup: lookup, modules: map[string]*project{}, protos: map[string]bool{}, connects: map[string]bool{},
		sources: map[string]bool{}, helpers: map[string]bool{}, imports: map[string][]string{},
		mains: map[string]bool{}, mainFiles: map[string]bool{}, importers: map[string][]string{},
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
			w.helpers[dir] = w.helpers[dir] || f.Extra.TestHelper
			w.imports[dir] = append(w.imports[dir], f.Extra.Imports...)
			if f.Extra.Main {
				w.mains[dir], w.mainFiles[f.Path] = true, true
			}
		}
	}
	for dir, imports := range w.imports {
		for _, importPath := range imports {
			if imported, ok := w.lookup(importPath); ok {
				w.importers[imported] = append(w.importers[imported], dir)
			}
		}
	}
	w.used = w.reach(slices.Collect(maps.Keys(w.mains)))
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

// importing returns the directory and those of all packages of the app that import it, and that import these.
func (w workspace) importing(dir string) map[string]bool {
	return closure([]string{dir}, func(dir string) []string { return w.importers[dir] })
}

// mainsAmong returns those of several directories that are packages main.
func (w workspace) mainsAmong(dirs map[string]bool) []string {
	var mains []string
	for dir := range dirs {
		if w.mains[dir] {
			mains = append(mains, dir)
		}
	}
	return mains
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

// leaveOutUnused leaves out the findings in packages of a module that no program of the app imports: only tests use
// them, or programs of others. Without a go.mod it is not known which directory an import path means. A package with
// the name of one that tests use counts if a program itself imports it: an emulator may serve tests of others.
func (w workspace) leaveOutUnused(p *project) {
	isModule := slices.ContainsFunc(p.Files, func(f analyzer.File[Extra]) bool { return f.Extra.ModulePath != "" })
	isMain := func(dir string) bool { return w.mains[dir] }
	for _, in := range p.Packages {
		isUnused := isModule && w.sources[in.Path] && !w.used[in.Path]
		isForTests := w.helpers[in.Path] && !slices.ContainsFunc(w.importers[in.Path], isMain)
		if !in.Built && (isUnused || isForTests) {
			in.Findings = nil
		}
	}
}

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
