// Package buildfile reads build files of Maven, Gradle and sbt: dependencies, plugins, references to further projects,
// and Gradle's version catalogs.
//
// Begin with [Read]. [Matches] recognizes build files.
package buildfile

import (
	"fmt"
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// File holds the declarations of a build file.
type File struct {
	// Root means that the directory of the file is a project.
	Root bool
	// Name is the artifact of a Maven project. For a Gradle script outside of a project, Name is the name for applying
	// the script or the plugin.
	Name string
	// Artifacts are the dependencies and plugins, as group:artifact or as the id of a plugin, without the dependencies
	// of tests.
	Artifacts []string
	// Versions are the versions of dependencies, plugins, a parent and imported platforms, by artifact or plugin, and
	// the properties by name. References to properties are not resolved.
	Versions map[string]string
	// Excluded are excluded dependencies of dependencies, as artifacts without groups.
	Excluded []string
	// Aliases are the names of further artifacts in the version catalog, as written in Gradle scripts: grpc.netty,
	// bundles.grpc.
	Aliases []string
	// Needs are the names of required projects and plugins that may be in the same tree.
	Needs []string
	// ForSubprojects means that the projects in subdirectories are built with the same artifacts.
	ForSubprojects bool
	// Catalog has the artifacts of each alias in a version catalog.
	Catalog map[string][]string
}

// Matches reports whether a path belongs to a build file.
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

// Read reads a build file of any format. grammar is the grammar of the file's language, if any. Beside an error, the
// File may still be the root of a project.
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

// IsOlder reports whether a version, of any form, is older by the first two numbers. isKnown is false for a version
// without numbers.
func IsOlder(version string, major, minor int) (isOlder, isKnown bool) {
	var first, second int
	n, _ := fmt.Sscanf(strings.TrimPrefix(version, "v"), "%d.%d", &first, &second)
	return first < major || first == major && second < minor, n > 0
}
