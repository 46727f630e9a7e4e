package detect

import (
	"path"
	"slices"
	"strings"
)

// goTree is all that a tree's Go files say, put together.
type goTree struct {
	modules      map[string]*goModuleOf // by folder of the go.mod; "." is there always
	byPath       map[string]string      // folder of the go.mod, by module path
	folders      map[string]*goFolder   // packages, by folder
	order        []string               // their folders, by path
	stubs        map[string]bool        // folders with generated stubs
	programs     []goBuiltProgram
	helperHealth Place // a health registration in a package that is no program, in any module
	note         func(format string, args ...any)
}

// goModuleOf is what the packages of one module say together.
type goModuleOf struct {
	http2     bool  // HTTP/2 is served
	makes     bool  // a package makes a server
	registers bool  // a package registers a service
	health    Place // a health registration in a package that makes no server
}

// goFolder is one package.
type goFolder struct {
	main   bool
	module *goModuleOf
	signs  []goPlaced
}

type goPlaced struct {
	Place
	goSign
}

type goBuiltProgram struct {
	Place
	goBinary
}

// goPutTogether takes facts ordered by path.
func goPutTogether(facts []fact, note func(format string, args ...any)) *goTree {
	t := &goTree{modules: map[string]*goModuleOf{".": {}}, byPath: map[string]string{},
		folders: map[string]*goFolder{}, stubs: map[string]bool{}, note: note}
	for _, f := range facts {
		t.add(path.Dir(f.path), f)
	}
	for dir, folder := range t.folders {
		t.order = append(t.order, dir)
		folder.module = t.moduleOf(dir)
		// http.Protocols is a client's too: only beside a server it is the server's.
		if folder.has(goHTTP2) || folder.has(goUnencrypted) && folder.has(goHTTPServer) {
			folder.module.http2 = true
		}
	}
	slices.Sort(t.order)
	for _, dir := range t.order {
		t.sum(t.folders[dir])
	}
	return t
}

func (t *goTree) add(dir string, f fact) {
	switch v := f.value.(type) {
	case goModule:
		t.modules[dir] = &goModuleOf{}
		if _, taken := t.byPath[string(v)]; !taken {
			t.byPath[string(v)] = dir
		}
	case goStub:
		t.stubs[dir] = true
	case goBinary:
		t.programs = append(t.programs, goBuiltProgram{Place{Path: f.path}, v})
	case goFile:
		folder := t.folders[dir]
		if folder == nil {
			folder = &goFolder{main: v.main}
			t.folders[dir] = folder
		}
		for _, s := range v.signs {
			folder.signs = append(folder.signs, goPlaced{Place{f.path, s.line}, s})
		}
	}
}

// sum drops a package's signs that are not gRPC's and adds the others to its module's.
func (t *goTree) sum(f *goFolder) {
	f.signs = slices.DeleteFunc(f.signs, func(s goPlaced) bool { return t.isNotGRPC(f, s) })
	makes := f.has(goMakes...)
	f.module.makes = f.module.makes || makes
	f.module.registers = f.module.registers || f.has(goRegisters)
	health, ok := f.first(goHealth)
	if ok && !makes && f.module.health.Path == "" {
		f.module.health = health.Place
	}
	if ok && !f.main && t.helperHealth.Path == "" {
		t.helperHealth = health.Place
	}
}

// isNotGRPC reports signs that what lies around them contradicts: a RegisterXServer that is the app's own function, a
// Kitex server whose stubs are not protobuf's, a connect handler that no HTTP/2 server is there for.
func (t *goTree) isNotGRPC(f *goFolder, s goPlaced) bool {
	switch s.kind {
	case goRegisters:
		dir, here := t.folderOf(s.from)
		return here && !t.stubs[dir]
	case goKitex:
		dir, here := t.folderOf(path.Dir(s.from))
		return !here || !t.stubs[dir]
	case goHandles:
		return !f.module.http2
	}
	return false
}

// moduleOf returns the innermost module around a folder.
func (t *goTree) moduleOf(dir string) *goModuleOf {
	for ; dir != "."; dir = path.Dir(dir) {
		if m, ok := t.modules[dir]; ok {
			return m
		}
	}
	return t.modules["."]
}

// folderOf returns the folder in the tree of the package with this import path.
func (t *goTree) folderOf(importPath string) (string, bool) {
	for p := importPath; p != "." && p != "/" && p != ""; p = path.Dir(p) {
		if dir, ok := t.byPath[p]; ok {
			return path.Join(dir, strings.TrimPrefix(importPath, p)), true
		}
	}
	return "", false
}

func (f *goFolder) has(kinds ...goKind) bool {
	_, ok := f.first(kinds...)
	return ok
}

// first returns the first sign of the first kind that there is one of.
func (f *goFolder) first(kinds ...goKind) (goPlaced, bool) {
	for _, kind := range kinds {
		for _, s := range f.signs {
			if s.kind == kind {
				return s, true
			}
		}
	}
	return goPlaced{}, false
}
