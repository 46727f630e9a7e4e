package analyzer

import (
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// BazelTests is the Analyze of a BUILD file of Bazel. No language takes the tests in the BUILD file for servers of the
// app.
func BazelTests[T any](f *tree.File) (*Result[T], error) {
	text, err := f.Text()
	if err != nil {
		return nil, err
	}
	return &Result[T]{Tests: source.ReadBazelTests(text)}, nil
}

// withoutBazelTests returns the servers of the files that BUILD files do not declare for tests only. Without any such
// server, the programs among the test files count too, and all servers get TestOnly.
func withoutBazelTests[T any](files []File[T], servers func(files []File[T]) []plan.Server) []plan.Server {
	tests, programs := map[string][]string{}, map[string][]string{}
	for _, f := range files {
		if len(f.Tests.Files) > 0 {
			dir := path.Dir(f.Path)
			tests[dir], programs[dir] = f.Tests.Files, f.Tests.Programs
		}
	}
	if len(tests) == 0 {
		return servers(files)
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

// matchesName reports whether the name of a file matches a pattern for its directory.
func matchesName(patterns map[string][]string, file string) bool {
	return slices.ContainsFunc(patterns[path.Dir(file)], func(pattern string) bool {
		matches, err := path.Match(pattern, path.Base(file))
		return err == nil && matches
	})
}
