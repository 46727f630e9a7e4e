package node

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
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
}

// maxAllAliases is how many aliases of an app are kept.
const maxAllAliases = 500

func newModules(files []analyzer.File[extra]) *modules {
	m := &modules{byPath: map[string]*analyzer.File[extra]{}, packages: map[string]string{}, all: files}
	for i := range files {
		f := &files[i]
		m.byPath[f.Path] = f
		left := min(len(f.Extra.aliases), maxAllAliases-len(m.aliases))
		m.aliases = append(m.aliases, f.Extra.aliases[:left]...)
		if f.Extra.packageName != "" {
			m.packages[f.Extra.packageName] = path.Dir(f.Path)
		}
	}
	// The nearest tsconfig.json counts first.
	slices.SortStableFunc(m.aliases, func(a, b alias) int { return len(b.dir) - len(a.dir) })
	return m
}

// extensions are those of modules, in the order in which they are looked for.
var extensions = []string{
	"", ".ts", ".js", ".mts", ".cts", ".mjs", ".cjs", ".json", "/index.ts", "/index.js", "/index.mjs",
}

// find returns the file of a module that a file imports, "" for one that is not in the app.
func (m *modules) find(from, module string) string {
	if strings.HasPrefix(module, ".") {
		return m.at(path.Join(path.Dir(from), module))
	}
	for name := module; name != "."; name = path.Dir(name) {
		dir, ok := m.packages[name]
		for _, below := range []string{"", "src"} {
			if f := m.at(path.Join(dir, below, module[len(name):])); ok && f != "" {
				return f
			}
		}
		if !strings.Contains(name, "/") {
			break
		}
	}
	for _, a := range m.aliases {
		if !tree.IsWithin(from, a.dir) {
			continue
		}
		if rest, ok := strings.CutPrefix(module, a.prefix); ok && (rest == "") != a.wildcard {
			if f := m.at(a.target + rest); f != "" {
				return f
			}
		}
	}
	return m.aliased(from, module)
}

// aliased looks for a module by the names that people give the folders of an app: @/config and ~/config lie below src,
// @app/config is the folder libs/config of NestJS and Nx, and src/config is a path from the root.
func (m *modules) aliased(from, module string) string {
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
			if f := m.at(path.Join(dir, b)); f != "" {
				return f
			}
		}
	}
	return ""
}

// at returns the file at a path without extension, or with the extension of what a compiler makes of it; "" for none.
func (m *modules) at(file string) string {
	for _, ext := range extensions {
		if m.byPath[file+ext] != nil {
			return file + ext
		}
	}
	for compiled, ext := range map[string]string{".js": ".ts", ".mjs": ".mts"} {
		if stem, ok := strings.CutSuffix(file, compiled); ok && m.byPath[stem+ext] != nil {
			return stem + ext
		}
	}
	return ""
}
