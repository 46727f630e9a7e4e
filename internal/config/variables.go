package config

import (
	"slices"
	"strings"
)

// Variable describes a variable that users set for a build.
type Variable struct {
	Name string
	// Meaning says what the value is, in words for users.
	Meaning string
	// Values are the values that are allowed, in lower case. It is nil where the value is free.
	Values []string
	// Default is the value where the variable is unset or empty, "" for none. That of a variable in [Variables] is also
	// in buildpack.toml.
	Default string
	// Example is a value.
	Example string
}

// Prefix begins the names of the variables that are this buildpack's alone.
const Prefix = "BP_GRPC_HEALTH_PROBE_"

// The names of the build variables.
const (
	EnabledEnv     = "BP_GRPC_HEALTH_PROBE_ENABLED"
	SourceEnv      = "BP_GRPC_HEALTH_PROBE_SOURCE"
	VariantEnv     = "BP_GRPC_HEALTH_PROBE_VARIANT"
	DetectPortEnv  = "BP_GRPC_HEALTH_PROBE_DETECT_PORT"
	BridgeEnv      = "BP_GRPC_HEALTH_PROBE_BRIDGE"
	ArgsEnv        = "BP_GRPC_HEALTH_PROBE_ARGS"
	RepoEnv        = "BP_GRPC_HEALTH_PROBE_REPO"
	AssetEnv       = "BP_GRPC_HEALTH_PROBE_ASSET"
	VersionEnv     = "BP_GRPC_HEALTH_PROBE_VERSION"
	SHA256Env      = "BP_GRPC_HEALTH_PROBE_SHA256"
	GitHubAPIEnv   = "BP_GITHUB_API_URL"
	GitHubTokenEnv = "BP_GITHUB_TOKEN"
)

// The values of EnabledEnv: install the probe where the app is seen to serve gRPC, always, or never.
const (
	EnabledAuto  = "auto"
	EnabledTrue  = "true"
	EnabledFalse = "false"
)

// The values of SourceEnv, which the image's label and the SBOM also have: where the probe comes from.
const (
	Bundled  = "bundled"  // the program in the buildpack
	Compile  = "compile"  // compiled from the source in the buildpack with the build image's Go
	Download = "download" // from a release on GitHub
)

// The values of VariantEnv: which build of the probe is installed.
const (
	VariantAuto = "auto" // full where the default flags need it, else lean
	VariantLean = "lean" // the build that costs little
	VariantFull = "full" // the build on grpc-go, which has -alts and -spiffe
)

// Variables are the build variables of the probe and of GitHub, in the order of the README's table. Those of GitHub
// assets other than the probe belong to package githubassets.
var Variables = []Variable{
	{
		Name:    EnabledEnv,
		Meaning: "when the probe is installed: auto, where the app serves gRPC; true, always; false, never",
		Values:  []string{EnabledAuto, EnabledTrue, EnabledFalse}, Default: EnabledAuto, Example: EnabledTrue,
	},
	{
		Name:    ArgsEnv,
		Meaning: "the probe's default flags, as shell words",
		Example: "-addr=:8443 -tls -tls-ca-cert=/etc/ca.pem",
	},
	{
		Name: DetectPortEnv,
		Meaning: "whether the port that the app's source states is the probe's default address, below all flags, " +
			"their variables and $PORT",
		Values: []string{"true", "false"}, Default: "true", Example: "false",
	},
	{
		Name: SourceEnv,
		Meaning: "where the probe comes from: bundled, the buildpack; compile, the same source compiled with the " +
			"build image's Go; download, a release on GitHub",
		Values: []string{Bundled, Compile, Download}, Default: Bundled, Example: Compile,
	},
	{
		Name: VariantEnv,
		Meaning: "which build of the probe: lean, which costs little; full, with -alts and -spiffe; auto, full where " +
			"the default flags need it",
		Values: []string{VariantAuto, VariantLean, VariantFull}, Default: VariantAuto, Example: VariantFull,
	},
	{
		Name: BridgeEnv,
		Meaning: "whether the bridge is installed beside the probe: a sidecar that verifies, for native probes and " +
			"HTTP health checks to ask",
		Values: []string{"true", "false"}, Default: "false", Example: "true",
	},
	{
		Name:    RepoEnv,
		Meaning: "for download: the repository, owner/name",
		Default: "grpc-ecosystem/grpc-health-probe", Example: "my-org/probe",
	},
	{
		Name: AssetEnv,
		Meaning: "for download: the release's file, a program or an archive with one; {os} and {arch} stand for " +
			"those of the image",
		Default: "grpc_health_probe-{os}-{arch}", Example: "probe_{os}_{arch}.tar.gz",
	},
	{
		Name:    VersionEnv,
		Meaning: "for download: the release's tag, or latest",
		Default: "v0.4.56", Example: "latest",
	},
	{
		Name: SHA256Env,
		Meaning: "for download: the SHA-256 in hex that the file must have; without it the buildpack must pin one, " +
			"or the release state one",
		Example: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
	},
	{
		Name:    GitHubAPIEnv,
		Meaning: "the API of a GitHub Enterprise",
		Default: "https://api.github.com", Example: "https://github.example.com/api/v3",
	},
	{
		Name:    GitHubTokenEnv,
		Meaning: "a GitHub token, where there is no service binding of type github",
		Example: "ghp_...",
	},
}

func variableOf(name string) Variable {
	i := slices.IndexFunc(Variables, func(v Variable) bool { return v.Name == name })
	return Variables[i]
}

// allowed writes the allowed values for a message: "a, b or c".
func (v Variable) allowed() string {
	last := len(v.Values) - 1
	return strings.Join(v.Values[:last], ", ") + " or " + v.Values[last]
}
