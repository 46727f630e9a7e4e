package analyzer

import (
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

// EnvironmentFile is the name of a file that sets environment variables for an app which loads it.
const EnvironmentFile = ".env"

// Environment returns the Analyze of an [EnvironmentFile].
func Environment[T any](text []byte) *Result[T] {
	return &Result[T]{Declares: address.EnvironmentFile(text)}
}

// ReplaceEnvironment says that neither what an [EnvironmentFile] sets nor what the container does is known to hold, if
// a file in its directory or below loads it over the variables that are set. Whether the image has the file decides.
func ReplaceEnvironment[T any](files []File[T], loads func(f File[T]) bool) {
	loaded := loadedIn(files, loads)
	for i, f := range files {
		if path.Base(f.Path) != EnvironmentFile || !loaded[path.Dir(f.Path)] {
			continue
		}
		files[i].Declares = nil
		for _, d := range f.Declares {
			files[i].Declares = append(files[i].Declares, address.SetVariable(d.Variable, false, d.Value))
		}
	}
}

// loadedIn returns the directories around files of which a function says so.
func loadedIn[T any](files []File[T], loads func(f File[T]) bool) map[string]bool {
	loaded := map[string]bool{}
	for _, f := range files {
		if loads(f) {
			for dir := range tree.Ancestors(f.Path) {
				loaded[dir] = true
			}
		}
	}
	return loaded
}

// DropUnread leaves out each [EnvironmentFile] that no file in its directory or below loads.
func DropUnread[T any](files []File[T], loads func(f File[T]) bool) []File[T] {
	loaded := loadedIn(files, loads)
	return slices.DeleteFunc(files, func(f File[T]) bool {
		return path.Base(f.Path) == EnvironmentFile && !loaded[path.Dir(f.Path)]
	})
}
