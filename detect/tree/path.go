package tree

import (
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// AnyDirMatches reports whether the name of any directory around a file matches the pattern.
func AnyDirMatches(file string, pattern *lazyregexp.Regexp) bool {
	for name := range strings.SplitSeq(path.Dir(file), "/") {
		if pattern.MatchString(name) {
			return true
		}
	}
	return false
}

// AnyDirIn reports whether any directory around a file has one of the names.
func AnyDirIn(file string, names []string) bool {
	for name := range strings.SplitSeq(path.Dir(file), "/") {
		if slices.Contains(names, name) {
			return true
		}
	}
	return false
}

// Ancestors yields the directories around a file: the innermost first and ".", the app's folder, last.
func Ancestors(file string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for dir := path.Dir(file); yield(dir) && dir != "."; {
			dir = path.Dir(dir)
		}
	}
}

// IsWithin reports whether a path is dir or lies in dir. "." holds everything.
func IsWithin(path, dir string) bool {
	return dir == "." || path == dir || strings.HasPrefix(path, dir) && path[len(dir)] == '/'
}

// IsExecutableName reports whether a built program may have this file name: a name without extension, or with a suffix
// of release tools ("-1.2.3", ".amd64", ".bin"). Execute permission proves nothing: archives and uploads lose the
// permission, and some mounts grant it to every file.
func IsExecutableName(name string) bool {
	ext := strings.TrimPrefix(path.Ext(name), ".")
	return ext == "" || ext == "bin" || ext == "linux" || ext == "run" || strings.ContainsAny(ext, "0123456789")
}

// Names of directories of documentation and of examples.
var (
	docsDirs     = []string{"doc", "docs", "documentation"}
	examplesDirs = []string{"example", "examples", "sample", "samples", "snippet", "snippets"}
)

// isCalled reports whether a directory has one of some names, in any case: docs, or docs-src, docs.old.
func isCalled(dir string, names []string) bool {
	if end := strings.IndexAny(dir, "-_."); end > 0 {
		dir = dir[:end]
	}
	return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(dir, name) })
}

// IsExampleInDocs reports whether a file is an example in a documentation: in docs/examples, docs-src/guide/snippets.
// No such file is part of the app. An app may lie in a directory examples elsewhere.
func IsExampleInDocs(file string) bool {
	inDocs := false
	for name := range strings.SplitSeq(path.Dir(file), "/") {
		if inDocs && isCalled(name, examplesDirs) {
			return true
		}
		inDocs = inDocs || isCalled(name, docsDirs)
	}
	return false
}

// IsBazelFile reports whether a file declares Bazel's targets of a directory.
func IsBazelFile(file string) bool {
	name := path.Base(file)
	return name == "BUILD" || name == "BUILD.bazel"
}
