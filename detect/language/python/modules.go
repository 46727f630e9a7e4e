package python

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

// moduleFinder returns what finds the file of a module that another file imports: in one of the folders around it,
// which may be those that Python looks in. It finds none if several have the module.
func moduleFinder(files []analyzer.File[extra]) func(from, module string) string {
	has := map[string]bool{}
	for _, f := range files {
		has[f.Path] = true
	}
	in := func(dir, module string) string {
		for _, end := range []string{".py", "/__init__.py"} {
			if file := path.Join(dir, module) + end; has[file] {
				return file
			}
		}
		return ""
	}
	return func(from, module string) string {
		name := strings.TrimLeft(module, ".")
		dots := len(module) - len(name)
		name = strings.ReplaceAll(name, ".", "/")
		found, above := "", 0
		for dir := range tree.Ancestors(from) {
			above++
			switch file := in(dir, name); {
			case dots > 0 && above == dots:
				return file
			case dots > 0 || file == "":
			case found != "":
				return ""
			default:
				found = file
			}
		}
		return found
	}
}

// isOwnModule reports whether a file imports a module of its own project: by dots, or of a folder around or beside it.
func isOwnModule(p *analyzer.Project[extra], module string) bool {
	first, _, _ := strings.Cut(module, ".")
	return strings.HasPrefix(module, ".") || slices.ContainsFunc(p.Files, func(f analyzer.File[extra]) bool {
		return strings.Contains("/"+f.Path, "/"+first+"/")
	})
}

// helperFile returns the file of a module, or of the package that it is in, which a file imports: one that a function
// finds, or the only one with that path in any folder.
func helperFile(files []analyzer.File[extra], find func(from, module string) string, from, module string) string {
	for module != "" {
		if file := find(from, module); file != "" {
			return file
		}
		found, end := "", "/"+strings.ReplaceAll(strings.TrimLeft(module, "."), ".", "/")
		for _, f := range files {
			switch {
			case !strings.HasSuffix(f.Path, end+".py") && !strings.HasSuffix(f.Path, end+"/__init__.py"):
			case found != "":
				return ""
			default:
				found = f.Path
			}
		}
		if found != "" {
			return found
		}
		module = module[:max(0, strings.LastIndexByte(module, '.'))]
	}
	return ""
}

// maxImports is how many names that a source imports are compared with the servers of other projects.
const maxImports = 64

// makersFor returns those of the makers that are modules which a project imports where it has services, or in packages
// from which it imports there.
func makersFor(
	p *analyzer.Project[extra], makers analyzer.Makers[extra], find func(from, module string) string,
) []*analyzer.Project[extra] {
	var imported []string
	for _, f := range p.Files {
		for _, name := range f.Extra.Imports {
			module, _, _ := strings.Cut(name, ".")
			if module != "" && module != "grpc" && p.Package(find(f.Path, module)) == nil {
				imported = append(imported, "/"+strings.ReplaceAll(name, ".", "/"))
			}
		}
	}
	return makers.In(func(file string) bool {
		module := "/" + strings.TrimSuffix(file, ".py")
		return slices.ContainsFunc(imported, func(name string) bool {
			of := path.Dir(name)
			return strings.HasSuffix(module, name) || of != "/" &&
				(strings.HasSuffix(module, of) || strings.HasSuffix(path.Dir(module), of))
		})
	})
}

// loadedElsewhere returns what an imported name, or an attribute of an imported module, is in that module.
func (i *imports) loadedElsewhere(dotted string) address.Name {
	first, rest, _ := strings.Cut(dotted, ".")
	full := i.names[first]
	if full == "" {
		return address.Name{}
	}
	full = strings.TrimSuffix(full+"."+rest, ".")
	at := strings.LastIndexByte(full, '.')
	if module := strings.TrimSuffix(full[:max(0, at)], "."); module != "" || at > 0 {
		if strings.HasSuffix(full[:at], ".") { // from . import name
			module = full[:at]
		}
		return address.Name{Module: module, Path: full[at+1:]}
	}
	return address.Name{}
}
