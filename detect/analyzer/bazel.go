package analyzer

import (
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// WithoutBazelTests returns the servers of the files that BUILD files do not declare for tests only; if there are none,
// those of the programs among the others too, marked as such. testsOf returns what a BUILD file declares.
func WithoutBazelTests[T any](
	files []File[T], testsOf func(f File[T]) source.BazelTests, servers func(files []File[T]) []plan.Server,
) []plan.Server {
	tests, programs := map[string][]string{}, map[string][]string{}
	for _, f := range files {
		if declared := testsOf(f); len(declared.Files) > 0 {
			dir := path.Dir(f.Path)
			tests[dir], programs[dir] = declared.Files, declared.Programs
		}
	}
	isTest := func(f File[T]) bool { return matchesName(tests, f.Path) }
	found := servers(slices.DeleteFunc(slices.Clone(files), isTest))
	isProgram := func(f File[T]) bool { return matchesName(programs, f.Path) }
	if len(found) > 0 || !slices.ContainsFunc(files, isProgram) {
		return found
	}
	found = servers(slices.DeleteFunc(slices.Clone(files), func(f File[T]) bool { return isTest(f) && !isProgram(f) }))
	for i := range found {
		found[i].TestOnly = true
	}
	return found
}

// matchesName reports whether the name of a file matches one of the patterns for its directory.
func matchesName(patterns map[string][]string, file string) bool {
	return slices.ContainsFunc(patterns[path.Dir(file)], func(pattern string) bool {
		matches, err := path.Match(pattern, path.Base(file))
		return err == nil && matches
	})
}
