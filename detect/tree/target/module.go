package target

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// clean returns a path of an app as plan.Server has it, and "" for the app's folder itself, which names no part of it,
// and for what lies outside.
func clean(written string) string {
	written = strings.TrimPrefix(strings.TrimSpace(written), "/workspace/")
	written = strings.TrimSuffix(strings.TrimSuffix(written, "..."), "/")
	p := path.Clean(written)
	if p == "." || p == ".." || strings.HasPrefix(p, "../") || strings.HasPrefix(p, "/") {
		return ""
	}
	return p
}

// isIn reports whether a server, or a program that runs it, lies in a directory, or is the file.
func isIn(s *plan.Server, dir string) bool {
	return tree.IsWithin(s.Evidence.Path, dir) ||
		slices.ContainsFunc(s.Programs, func(program string) bool { return tree.IsWithin(program, dir) })
}

// inDirectory returns the module of a directory, or of a file such as a project's in one.
func inDirectory(written, dir string) []module {
	if dir == "" {
		return nil
	}
	return []module{{written, dir, func(s *plan.Server) bool {
		if isIn(s, dir) {
			return true
		}
		parent := path.Dir(dir)
		return isProjectFile(dir) && parent != "." && isIn(s, parent)
	}}}
}

// isProjectFile reports whether a path is that of a file that stands for the folder that it lies in.
func isProjectFile(name string) bool {
	ext := path.Ext(name)
	return strings.HasSuffix(ext, "proj") || ext == ".sln" || ext == ".xml" || ext == ".gradle" || ext == ".kts" ||
		ext == ".js" || ext == ".cjs" || ext == ".mjs" || ext == ".ts" || ext == ".dart" || ext == ".go"
}

// directory reads the path of a folder, or of a file in one.
func directory(value string, _ *Files) []module { return inDirectory(value, clean(value)) }

// goPackages reads Go packages: folders, import paths, files.
func goPackages(separator string) func(value string, _ *Files) []module {
	return func(value string, _ *Files) []module {
		var all []module
		for written := range strings.SplitSeq(value, separator) {
			if written = strings.TrimSpace(written); written != "" {
				all = append(all, goPackage(written)...)
			}
		}
		return all
	}
}

// goPackage returns the module of a Go package. That of the app's folder itself is the program there; ./... names none.
func goPackage(written string) []module {
	p := clean(written)
	switch {
	case isImportPath(written):
		return []module{{written, "", func(s *plan.Server) bool {
			isNamed := func(dir string) bool { return endsIn(p, dir) }
			return isNamed(path.Dir(s.Evidence.Path)) || slices.ContainsFunc(s.Programs, isNamed)
		}}}
	case p == "" && !strings.HasSuffix(written, "..."):
		return []module{{written, "", func(s *plan.Server) bool {
			return slices.Contains(s.Programs, ".") || len(s.Programs) == 0 && path.Dir(s.Evidence.Path) == "."
		}}}
	}
	return inDirectory(written, p)
}

// isImportPath reports whether a Go package is named by its import path, which begins with a host.
func isImportPath(written string) bool {
	host, _, isLong := strings.Cut(written, "/")
	return isLong && !strings.HasPrefix(host, ".") && strings.Contains(host, ".")
}

// endsIn reports whether an import path ends in a directory.
func endsIn(importPath, dir string) bool {
	return dir != "" && dir != "." && strings.HasSuffix(importPath, "/"+dir)
}

// buildable reads Google's variable, whose value is a Go package, the folder of a module, a project or a Dart file.
func buildable(value string, files *Files) []module {
	if isImportPath(value) {
		return goPackage(value)
	}
	return directory(value, files)
}

// artifact reads the path of what a build makes, with wildcards: server/build/libs/*.jar.
func artifact(value string, _ *Files) []module {
	var dirs []string
	for name := range strings.SplitSeq(clean(value), "/") {
		if name == "target" || name == "build" || strings.ContainsAny(name, "*?[") {
			return inDirectory(value, clean(strings.Join(dirs, "/")))
		}
		dirs = append(dirs, name)
	}
	return inDirectory(value, clean(path.Dir(clean(value))))
}

// crates reads names of crates, with commas between them.
func crates(value string, files *Files) []module {
	var all []module
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimSpace(name)
		dir, ok := files.crates[name]
		if !ok {
			all = append(all, module{name, name, func(*plan.Server) bool { return false }})
			continue
		}
		if dir == "." { // beside other crates
			dir = "src"
		}
		all = append(all, inDirectory(name, dir)...)
	}
	return all
}
