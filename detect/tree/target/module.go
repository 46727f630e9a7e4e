package target

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// clean returns a path of an app as in plan.Server. The result is "" for the app's folder itself, which names no part
// of the app, and for paths outside.
func clean(written string) string {
	written = strings.TrimPrefix(strings.TrimSpace(written), "/workspace/")
	written = strings.TrimSuffix(strings.TrimSuffix(written, "..."), "/")
	p := path.Clean(written)
	if p == "." || p == ".." || strings.HasPrefix(p, "../") || strings.HasPrefix(p, "/") {
		return ""
	}
	return p
}

// IsIn reports whether a server, or a program that runs the server, lies in a directory or is the file dir.
func IsIn(s *plan.Server, dir string) bool {
	return tree.IsWithin(s.Evidence.Path, dir) ||
		slices.ContainsFunc(s.Programs, func(program string) bool { return tree.IsWithin(program, dir) })
}

// In returns the module of a directory, or of a file in a directory, such as a project's.
func (fs *Files) In(written, dir string) []Module {
	dir = clean(dir)
	if dir == "" {
		return nil
	}
	parent := path.Dir(dir)
	isFile := parent != "." && fs.isProjectFile(dir)
	return []Module{{written, dir, func(s *plan.Server) bool { return IsIn(s, dir) || isFile && IsIn(s, parent) }}}
}

// isProjectFile reports whether a file stands for the folder around the file.
func (fs *Files) isProjectFile(file string) bool {
	return fs.IsSource(file) || slices.ContainsFunc(fs.toolchains, func(t *Toolchain) bool {
		return slices.Contains(t.ProjectFiles, path.Ext(file))
	})
}

// Directory reads the path of a folder, or of a file in a folder.
func Directory(fs *Files, value string) []Module { return fs.In(value, value) }

// Package reads a folder, a file in a folder, or an import path: a host first, a folder last.
func Package(fs *Files, value string) []Module {
	host, _, isLong := strings.Cut(value, "/")
	if !isLong || strings.HasPrefix(host, ".") || !strings.Contains(host, ".") {
		return Directory(fs, value)
	}
	importPath := clean(value)
	isNamed := func(dir string) bool { return dir != "" && dir != "." && strings.HasSuffix(importPath, "/"+dir) }
	return []Module{{value, "", func(s *plan.Server) bool {
		return isNamed(path.Dir(s.Evidence.Path)) || slices.ContainsFunc(s.Programs, isNamed)
	}}}
}
