package analyzer

import (
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

// EnvironmentFile is the name of a file that sets environment variables for an app which loads it.
const EnvironmentFile = ".env"

// Environment returns the Analyze of an [EnvironmentFile].
func Environment[T any](text []byte) *Result[T] {
	return &Result[T]{Declares: address.EnvironmentFile(text)}
}

// DropUnread leaves out each [EnvironmentFile] that no file in its directory or below loads.
func DropUnread[T any](files []File[T], loads func(f File[T]) bool) []File[T] {
	loaded := map[string]bool{}
	for _, f := range files {
		if loads(f) {
			for dir := range tree.Ancestors(f.Path) {
				loaded[dir] = true
			}
		}
	}
	return slices.DeleteFunc(files, func(f File[T]) bool {
		return path.Base(f.Path) == EnvironmentFile && !loaded[path.Dir(f.Path)]
	})
}
