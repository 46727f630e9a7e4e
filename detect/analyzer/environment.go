package analyzer

import (
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

// EnvironmentFile is the name of a file with environment variables, for an app that loads the file.
const EnvironmentFile = ".env"

// Environment returns the Analyze of an [EnvironmentFile].
func Environment[T any](text []byte) *Result[T] {
	return &Result[T]{Environment: address.EnvironmentFile(text)}
}

// ReplaceEnvironment makes the addresses of the variables in an [EnvironmentFile] unknown if a file in its directory or
// below loads the variables over those of the container. The values then depend on whether the image has the file.
func ReplaceEnvironment[T any](files []File[T], loads func(f File[T]) bool) {
	loaded := loadedIn(files, loads)
	for i, f := range files {
		if path.Base(f.Path) != EnvironmentFile || !loaded[path.Dir(f.Path)] {
			continue
		}
		files[i].Environment = map[string]address.Address{}
		for variable := range f.Environment {
			files[i].Environment[variable] = address.Address{}
		}
	}
}

// loadedIn returns the directories around the files for which loads returns true.
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

// environments are the variables that the files of an app set, by the path of the file.
type environments map[string]map[string]address.Address

func environmentsOf[T any](all []*Project[T]) environments {
	set := environments{}
	for _, p := range all {
		for _, f := range p.Files {
			if f.Environment != nil {
				set[f.Path] = f.Environment
			}
		}
	}
	return set
}

// replace returns an address with the value of its variable from the innermost file around a server. The address is
// unknown if the value is unknown.
func (e environments) replace(a address.Address, server string) address.Address {
	for dir := range tree.Ancestors(server) {
		file := path.Join(dir, EnvironmentFile)
		set, ok := e[file][a.Variable]
		switch {
		case a.Variable == "" || !ok:
			continue
		case set.Certainty == address.Unknown:
			return address.Address{}
		case set.Host == address.UnknownHost:
			set.Host = a.Host
		}
		set.Place.Path = file
		return set
	}
	return a
}
