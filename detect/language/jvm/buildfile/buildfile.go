// Package buildfile reads what Maven, Gradle and sbt build a project with: its dependencies and plugins, the other
// projects that it needs, and Gradle's version catalogs.
//
// Each format has a function: [ReadPOM], [ReadGradle], [ReadSbt], [ReadCatalog],
// [ReadProperties]. [Matches] tells which files they are
// for.
package buildfile

import (
	"path"
	"strings"
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
	// plugin. Each is as it is written, with its references to properties: ${grpc.version}. [Resolve] replaces these.
	Versions map[string]string
	// Properties are what versions refer to.
	Properties map[string]string
	// Excluded are the artifacts that are left out of what a dependency brings with it, by that dependency. Those that
	// are left out of all dependencies have the key "".
	Excluded map[string][]string
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
