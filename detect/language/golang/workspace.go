package golang

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
)

type project = analyzer.Project[Extra]

// workspace is all modules of an app, with the imports between packages.
type workspace struct {
	// lookup returns the directory of the package with an import path, and whether the package is in the app.
	lookup  func(importPath string) (dir string, ok bool)
	modules map[string]*project // by module path
	// The directories with code of protoc-gen-go, with code of protoc-gen-connect-go, with any Go, and with packages
	// named as helpers of tests.
	protos, connects, sources, helpers map[string]bool

	imports   map[string][]string // import paths by directory of the importing package
	importers map[string][]string // directories of importing packages by the imported directory
	mains     map[string]bool     // the directories of packages main
	mainFiles map[string]bool     // the sources of packages main
	used      map[string]bool     // the directories of packages main and of all their imports
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

// moduleOf returns the module of the package with an import path, or nil for a package outside of the app.
func (w workspace) moduleOf(importPath string) *project {
	for p := importPath; p != "." && p != "/" && p != ""; p = path.Dir(p) {
		if module := w.modules[p]; module != nil {
			return module
		}
	}
	return nil
}

// reach returns the directories and the directories of all their imports in the app, direct or indirect.
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

// importing returns the directory and the directories of all importers in the app, direct or indirect.
func (w workspace) importing(dir string) map[string]bool {
	return closure([]string{dir}, func(dir string) []string { return w.importers[dir] })
}

func (w workspace) mainsAmong(dirs map[string]bool) []string {
	var mains []string
	for dir := range dirs {
		if w.mains[dir] {
			mains = append(mains, dir)
		}
	}
	return mains
}

// closure returns the directories and all directories that repeated calls of next reach.
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

// leaveOutUnused leaves out the findings in packages of a module that no program of the app imports: only tests or
// foreign programs use the packages. Without a go.mod, the directory of an import path is unknown. A package named as a
// helper of tests counts if a program imports the package directly: an emulator may serve tests of foreign programs.
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

// lookupIn returns the function lookup of a workspace.
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
