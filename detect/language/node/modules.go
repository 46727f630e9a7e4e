package node

import (
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// mayBeOwnModule reports whether a name in an import may be a module of the app: a path, or one of the names that
// compilers are told to take for one (paths in tsconfig.json), and not certainly a package of a registry.
func mayBeOwnModule(module string) bool {
	return strings.HasPrefix(module, ".") || strings.Contains(module, "/") || strings.HasPrefix(module, "@")
}

// modules are the sources of an app, which import each other.
type modules struct {
	byPath   map[string]*analyzer.File[extra]
	packages map[string]string // the directories of the app's own packages by their names
	aliases  []alias
	all      []analyzer.File[extra]
	keys     map[string][]keyedSetting // nil until a key is asked for
	// left is how many names may still be looked up for the listener that is looked at, and total for all.
	left, total int
}

const (
	// maxLookups is how many names are looked up for one listener, and maxTotal for all of an app. Those of real apps
	// need a handful.
	maxLookups = 200
	maxTotal   = 200_000
	// maxAllAliases is how many aliases of an app are kept.
	maxAllAliases = 500
)

func newModules(files []analyzer.File[extra]) *modules {
	m := &modules{
		byPath: map[string]*analyzer.File[extra]{}, packages: map[string]string{}, all: files, total: maxTotal,
	}
	for i := range files {
		f := &files[i]
		m.byPath[f.Path] = f
		left := min(len(f.Extra.aliases), maxAllAliases-len(m.aliases))
		m.aliases = append(m.aliases, f.Extra.aliases[:left]...)
		if f.Extra.packageName != "" {
			m.packages[f.Extra.packageName] = path.Dir(f.Path)
		}
	}
	return m
}

// extensions are those of modules, in the order in which they are looked for.
var extensions = []string{
	"", ".ts", ".js", ".mts", ".cts", ".mjs", ".cjs", ".json", "/index.ts", "/index.js", "/index.mjs",
}

// find returns the source of a module that a file imports, or nil for one that is not in the app.
func (m *modules) find(from, module string) *analyzer.File[extra] {
	if strings.HasPrefix(module, ".") {
		return m.at(path.Join(path.Dir(from), module))
	}
	for name := module; name != "."; name = path.Dir(name) {
		dir, ok := m.packages[name]
		for _, below := range []string{"", "src"} {
			if f := m.at(path.Join(dir, below, module[len(name):])); ok && f != nil {
				return f
			}
		}
		if !strings.Contains(name, "/") {
			break
		}
	}
	for _, a := range m.aliases {
		if rest, ok := strings.CutPrefix(module, a.prefix); ok && (rest == "") != a.wildcard {
			if f := m.at(a.target + rest); f != nil {
				return f
			}
		}
	}
	return m.aliased(from, module)
}

// aliased looks for a module by the names that people give the folders of an app: @/config and ~/config lie below src,
// @app/config is the folder libs/config of NestJS and Nx, and src/config is a path from the root.
func (m *modules) aliased(from, module string) *analyzer.File[extra] {
	alias, rest, _ := strings.Cut(module, "/")
	var below []string
	switch {
	case alias == "@" || alias == "~" || alias == "#":
		below = []string{"src/" + rest, rest}
	case strings.HasPrefix(alias, "@"):
		library, inner, _ := strings.Cut(rest, "/")
		below = []string{
			path.Join("libs", library, "src", inner), path.Join("packages", library, "src", inner),
			path.Join("libs", alias[1:], library, "src", inner), path.Join("src", alias[1:], rest),
			path.Join("libs", alias[1:], "src", rest),
		}
	default:
		below = []string{module, "src/" + module}
	}
	for dir := range tree.Ancestors(from) {
		for _, b := range below {
			if f := m.at(path.Join(dir, b)); f != nil {
				return f
			}
		}
	}
	return nil
}

// at returns the source at a path without extension, or with the extension of what a compiler makes of it.
func (m *modules) at(file string) *analyzer.File[extra] {
	for _, ext := range extensions {
		if f := m.byPath[file+ext]; f != nil {
			return f
		}
	}
	if stem, ok := strings.CutSuffix(file, ".js"); ok {
		return m.byPath[stem+".ts"]
	}
	if stem, ok := strings.CutSuffix(file, ".mjs"); ok {
		return m.byPath[stem+".mts"]
	}
	return nil
}

// maxImports is how many modules and names are followed to one port.
const maxImports = 8

// stated is a port and where it is written. The port is address.UnknownPort where none is, and 0 where the name is not
// known at all.
type stated struct {
	port  int
	place plan.Place
}

// port returns the port of a setting of a file.
func (m *modules) port(file *analyzer.File[extra], s setting, depth int) stated {
	written := stated{s.port, plan.Place{Path: file.Path, Line: s.line}}
	if depth > maxImports || s.port != address.UnknownPort && !s.isDefault {
		return written
	}
	found := stated{}
	for _, r := range s.names {
		of := m.reference(file, r, depth+1)
		if of.port <= 0 {
			continue
		}
		if found.port != 0 && found.port != of.port {
			return stated{port: address.UnknownPort}
		}
		found = of
	}
	if found.port != 0 {
		return found
	}
	return written
}

// reference returns the port of what a reference in a file refers to.
func (m *modules) reference(file *analyzer.File[extra], r reference, depth int) stated {
	if m.left, m.total = m.left-1, m.total-1; depth > maxImports || m.left < 0 || m.total < 0 {
		return stated{}
	}
	if r.path != "" || r.module != "" {
		of := r
		if r.key != "" {
			of.path = strings.Trim(r.path+"."+r.key, ".")
		}
		if s := m.name(file, of, depth); s.port != 0 {
			return s
		}
	}
	if r.key != "" {
		return m.key(file.Path, r.key, depth)
	}
	return stated{}
}

// name returns the port of a name of a file, or of a module that it imports.
func (m *modules) name(file *analyzer.File[extra], r reference, depth int) stated {
	of := file
	if r.module != "" {
		if of = m.find(file.Path, r.module); of == nil {
			return stated{}
		}
	}
	if s := m.lookUp(of, r.path, depth); s.port != 0 || r.module == "" {
		return s
	}
	if s := m.lookUp(of, strings.Trim("default."+r.path, "."), depth); s.port != 0 {
		return s
	}
	if depth > maxImports {
		return stated{}
	}
	for _, module := range of.Extra.reexports {
		if s := m.name(of, reference{module: module, path: r.path}, depth+1); s.port != 0 {
			return s
		}
	}
	return stated{}
}

// lookUp returns the port of a name in a file. A name that is not there may be a property of another one, or the field
// that a method returns.
func (m *modules) lookUp(file *analyzer.File[extra], name string, depth int) stated {
	if depth > maxImports {
		return stated{}
	}
	for _, n := range []string{name, name + ".default"} {
		if s, ok := file.Extra.settings[n]; ok {
			return m.port(file, s, depth+1)
		}
	}
	for object := parent(name); object != ""; object = parent(object) {
		s, ok := file.Extra.settings[object]
		if !ok {
			continue
		}
		for _, r := range s.names {
			r.path = strings.Trim(r.path+name[len(object):], ".")
			if of := m.reference(file, r, depth+1); of.port != 0 {
				return of
			}
		}
		return stated{}
	}
	return stated{}
}
