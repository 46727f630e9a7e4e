package jvm

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/tree/target"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var toolchain = target.Toolchain{
	Extensions:   []string{".java", ".kt", ".scala"},
	ProjectFiles: []string{".xml", ".gradle", ".kts"},
	Starts:       []string{"java", "sbt", "sbt runMain"},
	Runtimes:     []string{"java"},
	Variables: []target.Variable{
		{Name: "BP_MAVEN_BUILT_ARTIFACT", Source: mavenBuildpack, Read: readArtifact},
		{Name: "BP_MAVEN_BUILT_MODULE", Source: mavenBuildpack, Read: target.Directory},
		{Name: "BP_MAVEN_POM_FILE", Source: mavenBuildpack, Read: target.Directory},
		{Name: "BP_GRADLE_BUILT_ARTIFACT", Source: gradleBuildpack, Read: readArtifact},
		{Name: "BP_GRADLE_BUILT_MODULE", Source: gradleBuildpack, Read: target.Directory},
		{Name: "BP_GRADLE_BUILD_FILE", Source: gradleBuildpack, Read: target.Directory},
		{Name: "BP_SBT_BUILT_ARTIFACT", Source: sbtBuildpack, Read: readArtifact},
		{Name: "BP_SBT_BUILT_MODULE", Source: sbtBuildpack, Read: target.Directory},
		{Name: "BP_MAVEN_BUILD_ARGUMENTS", Source: mavenBuildpack, Read: readArguments, IsHint: true},
		{Name: "BP_MAVEN_ADDITIONAL_BUILD_ARGUMENTS", Source: mavenBuildpack, Read: readArguments, IsHint: true},
		{Name: "BP_GRADLE_BUILD_ARGUMENTS", Source: gradleBuildpack, Read: readArguments, IsHint: true},
		{Name: "MAVEN_CUSTOM_OPTS", Source: herokuMaven, Read: readArguments, IsHint: true},
		{Name: "GRADLE_TASK", Source: herokuGradle, Read: readArguments, IsHint: true},
		{Name: "GOOGLE_BUILD_ARGS", Source: googleBuildpacks, Read: readArguments, IsHint: true},
	},
	IsProgram: isMainClass,
}

const (
	mavenBuildpack   = "paketo-buildpacks/maven buildpack.toml"
	gradleBuildpack  = "paketo-buildpacks/gradle buildpack.toml"
	sbtBuildpack     = "paketo-buildpacks/sbt buildpack.toml"
	herokuMaven      = "heroku/buildpacks-jvm buildpacks/maven/README.md"
	herokuGradle     = "heroku/buildpacks-jvm buildpacks/gradle/README.md"
	googleBuildpacks = "GoogleCloudPlatform/buildpacks pkg/env/env.go"
)

// readArtifact reads the path of a build's output, with wildcards: server/build/libs/*.jar.
func readArtifact(fs *target.Files, value string) []target.Module {
	dirs := strings.Split(value, "/")
	isOutput := func(name string) bool {
		return name == "target" || name == "build" || strings.ContainsAny(name, "*?[")
	}
	if i := slices.IndexFunc(dirs, isOutput); i >= 0 {
		return fs.In(value, strings.Join(dirs[:i], "/"))
	}
	return fs.In(value, path.Dir(value))
}

// readArguments reads the arguments of Maven and Gradle that choose a module: -pl, and the path of a task.
func readArguments(fs *target.Files, value string) []target.Module {
	var all []target.Module
	for word, argument := range target.Flags(value) {
		switch {
		case word == "-pl" || word == "--projects":
			for project := range strings.SplitSeq(argument, ",") {
				all = append(all, readProject(fs, project)...)
			}
		case strings.Contains(word, ":") && !strings.HasPrefix(word, "-"):
			task := strings.Split(strings.TrimPrefix(word, ":"), ":")
			all = append(all, fs.In(word, strings.Join(task[:len(task)-1], "/"))...)
		}
	}
	return all
}

// readProject returns the module of Maven's -pl: a folder, or :ARTIFACT, mostly the name of the folder too.
func readProject(fs *target.Files, project string) []target.Module {
	_, artifact, isArtifact := strings.Cut(project, ":")
	if !isArtifact {
		return target.Directory(fs, project)
	}
	return []target.Module{{Written: project, Builds: func(s *plan.Server) bool {
		return slices.Contains(strings.Split(path.Dir(s.Evidence.Path), "/"), artifact)
	}}}
}

// isMainClass reports whether a word is the class named like the source of a server, in the form for the command java:
// com.example.Server. Kotlin's functions outside of classes are in a class named ServerKt.
func isMainClass(_ *target.Files, s *plan.Server, word string) bool {
	if !strings.Contains(word, ".") || strings.Contains(word, "/") {
		return false
	}
	source := "/" + strings.TrimSuffix(s.Evidence.Path, path.Ext(s.Evidence.Path))
	class := "/" + strings.ReplaceAll(word, ".", "/")
	return strings.HasSuffix(source, class) || strings.HasSuffix(source, strings.TrimSuffix(class, "Kt"))
}
