// Package buildfile reads what Maven, Gradle and sbt build a project with: its dependencies and plugins, the other
// projects that it needs, and Gradle's version catalogs.
//
// Begin with [Read]. [Matches] tells which files it is for.
package buildfile

import (
	"fmt"
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// File is what a build file declares.
type File struct {
	// Root says that the directory of the file is a project.
	Root bool
	// Name is the artifact of a Maven project. Of a Gradle script that is no project's own it is the name by which it
	// is applied, as a script or as a plugin.
	Name string
	// Artifacts are the dependencies and plugins, as group:artifact or as the id of a plugin. Those of tests are left
	// out.
	Artifacts []string
	// Versions are those that the file states of dependencies, plugins, a parent and imported platforms, by artifact or
	// plugin, and properties by their names. One that refers to a property is as it is written.
	Versions map[string]string
	// Excluded are artifacts, without their groups, that are left out of what a dependency brings with it.
	Excluded []string
	// Aliases are the names of further ones in the version catalog, as Gradle scripts write them: grpc.netty,
	// bundles.grpc.
	Aliases []string
	// Needs are the names of other projects and plugins that may be in the same tree.
	Needs []string
	// ForSubprojects says that the projects in subdirectories are built with the same artifacts.
	ForSubprojects bool
	// Catalog has the artifacts that each alias of a version catalog stands for.
	Catalog map[string][]string
}

// Matches reports whether a path is that of a build file.
func Matches(file string) bool {
	switch name := path.Base(file); path.Ext(name) {
	case ".gradle", ".sbt":
		return true
	case ".kts":
		return strings.HasSuffix(name, ".gradle.kts")
	case ".toml":
		return strings.HasSuffix(name, ".versions.toml")
	case ".properties":
		return name == "gradle.properties"
	case ".xml":
		return name == "pom.xml"
	case ".scala":
		return path.Base(path.Dir(file)) == "project" // sources of the build itself
	}
	return false
}

// Read reads a build file of any format. grammar is how its language is written, if it has one. A file that cannot be
// read may still be the root of a project.
func Read(file string, text []byte, grammar source.Grammar) (File, error) {
	switch path.Ext(file) {
	case ".xml":
		return readPOM(text)
	case ".toml":
		return readCatalog(text)
	case ".properties":
		return readProperties(text), nil
	case ".sbt", ".scala":
		return readSbt(file, grammar.Read(text)), nil
	}
	return readGradle(file, grammar.Read(text)), nil
}

// SetVersion keeps the version of an artifact or a plugin, or the value of a property, unless it is "".
func (f *File) SetVersion(name, version string) {
	if f.Versions == nil {
		f.Versions = map[string]string{}
	}
	if version != "" {
		f.Versions[name] = version
	}
}

// IsOlder reports whether a version, of any form, is older by its first two numbers. isKnown is false if it has none.
func IsOlder(version string, major, minor int) (isOlder, isKnown bool) {
	var first, second int
	n, _ := fmt.Sscanf(strings.TrimPrefix(version, "v"), "%d.%d", &first, &second)
	return first < major || first == major && second < minor, n > 0
}
