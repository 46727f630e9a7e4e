package analyzer

import (
	"path"
	"slices"
)

// DropBazelTests leaves out the files that BUILD files declare for tests only. testFilesOf returns those of a BUILD
// file, as source.BazelTestFiles tells them.
func DropBazelTests[T any](files []File[T], testFilesOf func(f File[T]) []string) []File[T] {
	patterns := map[string][]string{}
	for _, f := range files {
		if tests := testFilesOf(f); len(tests) > 0 {
			patterns[path.Dir(f.Path)] = tests
		}
	}
	if len(patterns) == 0 {
		return files
	}
	return slices.DeleteFunc(slices.Clone(files), func(f File[T]) bool {
		return slices.ContainsFunc(patterns[path.Dir(f.Path)], func(pattern string) bool {
			matches, err := path.Match(pattern, path.Base(f.Path))
			return err == nil && matches
		})
	})
}
