package target

// Variable is a build variable of a buildpack that says which part of an app is built.
type Variable struct {
	Name string
	// Source is where the buildpack reads it: repository and file on GitHub.
	Source string

	// read returns the modules that a value names.
	read func(value string, files *Files) []module
	// languages are those that it is for, by the names of plan.Server; nil for all.
	languages []string
	isHint    bool
}

// The languages that buildpacks build together.
var (
	golang = []string{"go"}
	jvm    = []string{"java", "kotlin", "scala"}
	dotnet = []string{"csharp", "fsharp", "vb"}
	node   = []string{"node", "typescript"}
	rust   = []string{"rust"}
)

// Variables are the variables that detection reads, the more specific before those that they supersede.
var Variables = []Variable{
	{"BP_GO_TARGETS", "paketo-buildpacks/go-build build_configuration_parser.go", goPackages(":"), golang, false},
	{"BP_GO_WORKDIR", "paketo-buildpacks/go-build build_configuration_parser.go", directory, golang, false},
	{"GO_INSTALL_PACKAGE_SPEC", "heroku/heroku-buildpack-go bin/compile", goPackages(" "), golang, false},
	{"GAE_YAML_MAIN", "GoogleCloudPlatform/buildpacks pkg/env/env.go", goPackages(" "), golang, false},
	{"BP_MAVEN_BUILT_ARTIFACT", "paketo-buildpacks/maven buildpack.toml", artifact, jvm, false},
	{"BP_MAVEN_BUILT_MODULE", "paketo-buildpacks/maven buildpack.toml", directory, jvm, false},
	{"BP_MAVEN_POM_FILE", "paketo-buildpacks/maven buildpack.toml", directory, jvm, false},
	{"BP_GRADLE_BUILT_ARTIFACT", "paketo-buildpacks/gradle buildpack.toml", artifact, jvm, false},
	{"BP_GRADLE_BUILT_MODULE", "paketo-buildpacks/gradle buildpack.toml", directory, jvm, false},
	{"BP_GRADLE_BUILD_FILE", "paketo-buildpacks/gradle buildpack.toml", directory, jvm, false},
	{"BP_SBT_BUILT_ARTIFACT", "paketo-buildpacks/sbt buildpack.toml", artifact, jvm, false},
	{"BP_SBT_BUILT_MODULE", "paketo-buildpacks/sbt buildpack.toml", directory, jvm, false},
	{"BP_DOTNET_PROJECT_PATH", "paketo-buildpacks/dotnet-publish build.go", directory, dotnet, false},
	{"BP_LAUNCHPOINT", "paketo-buildpacks/libnodejs spec_constants.go", command, node, true},
	{"BP_NODE_PROJECT_PATH", "paketo-buildpacks/libnodejs spec_constants.go", directory, node, false},
	{"BP_CARGO_WORKSPACE_MEMBERS", "paketo-community/cargo buildpack.toml", crates, rust, false},
	{"BP_CARGO_INSTALL_ARGS", "paketo-community/cargo buildpack.toml", arguments, rust, true},
	{"BP_MAVEN_BUILD_ARGUMENTS", "paketo-buildpacks/maven buildpack.toml", arguments, jvm, true},
	{"BP_MAVEN_ADDITIONAL_BUILD_ARGUMENTS", "paketo-buildpacks/maven buildpack.toml", arguments, jvm, true},
	{"BP_GRADLE_BUILD_ARGUMENTS", "paketo-buildpacks/gradle buildpack.toml", arguments, jvm, true},
	{"MAVEN_CUSTOM_OPTS", "heroku/buildpacks-jvm buildpacks/maven/README.md", arguments, jvm, true},
	{"GRADLE_TASK", "heroku/buildpacks-jvm buildpacks/gradle/README.md", arguments, jvm, true},
	{"GOOGLE_BUILDABLE", "GoogleCloudPlatform/buildpacks pkg/env/env.go", buildable, nil, false},
	{"GOOGLE_BUILD_ARGS", "GoogleCloudPlatform/buildpacks pkg/env/env.go", arguments, jvm, true},
	{"GOOGLE_ENTRYPOINT", "GoogleCloudPlatform/buildpacks pkg/env/env.go", command, nil, true},
	{"BP_PROCFILE_DEFAULT_PROCESS", "paketo-buildpacks/procfile procfile/procfile.go", command, nil, true},
}
