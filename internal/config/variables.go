package config

import "strings"

// Variable describes a variable that users set for a build.
type Variable struct {
	Name string
	// Meaning describes the value for users, as Markdown of docs/build-variables.md.
	Meaning string
	// Values are the allowed values, in lower case; nil for a free value.
	Values []string
	// Default is the value if the variable is unset or empty, "" for none. The defaults of [Variables] also stand in
	// buildpack.toml.
	Default string
	// Example is a value.
	Example string

	// read reads the value; nil for a value outside the Config.
	read read
	// needs is the value of another variable without which this variable has no effect; zero for none.
	needs condition
}

// condition is a value of another variable.
type condition struct {
	name, value string
	isMet       func(Config) bool
}

// forDownload and forLaunch are the conditions of variables whose meanings begin "for `download`" and "for `launch`".
func forDownload() condition {
	return condition{SourceEnv, Download, func(c Config) bool { return c.Source == Download }}
}

func forLaunch() condition {
	return condition{BridgeEnv, BridgeLaunch, func(c Config) bool { return c.Bridge == BridgeLaunch }}
}

// Prefix begins the names of this buildpack's own variables.
const Prefix = "BP_GRPC_HEALTH_PROBE_"

// The names of the build variables.
const (
	EnabledEnv     = "BP_GRPC_HEALTH_PROBE_ENABLED"
	SourceEnv      = "BP_GRPC_HEALTH_PROBE_SOURCE"
	VariantEnv     = "BP_GRPC_HEALTH_PROBE_VARIANT"
	DetectPortEnv  = "BP_GRPC_HEALTH_PROBE_DETECT_PORT"
	DiscoverEnv    = "BP_GRPC_HEALTH_PROBE_DISCOVER"
	BridgeEnv      = "BP_GRPC_HEALTH_PROBE_BRIDGE"
	ProcessesEnv   = "BP_GRPC_HEALTH_PROBE_BRIDGE_PROCESSES"
	ArgsEnv        = "BP_GRPC_HEALTH_PROBE_ARGS"
	RepoEnv        = "BP_GRPC_HEALTH_PROBE_REPO"
	AssetEnv       = "BP_GRPC_HEALTH_PROBE_ASSET"
	VersionEnv     = "BP_GRPC_HEALTH_PROBE_VERSION"
	SHA256Env      = "BP_GRPC_HEALTH_PROBE_SHA256"
	GitHubAPIEnv   = "BP_GITHUB_API_URL"
	GitHubTokenEnv = "BP_GITHUB_TOKEN"
)

// The values of EnabledEnv: when the probe is installed.
const (
	EnabledAuto     = "auto"     // if the app is seen to serve gRPC
	EnabledRequired = "required" // as auto, and the build fails without a server
	EnabledTrue     = "true"     // always
	EnabledFalse    = "false"    // never
)

// The values of SourceEnv, in the image's label and the SBOM too: the origin of the probe.
const (
	Bundled  = "bundled"  // the program in the buildpack
	Compile  = "compile"  // compiled from the source in the buildpack with the build image's Go
	Download = "download" // from a release on GitHub
)

// The values of VariantEnv: the installed build of the probe.
const (
	VariantAuto = "auto" // full if the default flags need the full build, else lean
	VariantLean = "lean" // the cheap build
	VariantFull = "full" // the build on grpc-go, with -alts and -spiffe
)

// The values of BridgeEnv: whether the bridge is installed, and who starts it.
const (
	BridgeFalse  = "false"
	BridgeTrue   = "true"   // the bridge is installed, and a manifest starts the bridge
	BridgeLaunch = "launch" // the lifecycle's launcher starts the bridge in the app's container
)

// DefaultRelease is the default release of the upstream probe for `download`. Renovate raises the version.
const DefaultRelease = "v0.4.62"

// Variables are the build variables of the probe and of GitHub, in the order of docs/build-variables.md. The table
// there and the descriptions in buildpack.toml are made from Variables. The variables of further GitHub assets belong
// to package githubassets. Package github reads the token where the token is sent, so that nothing else holds it.
var Variables = []Variable{
	{
		Name: EnabledEnv,
		Meaning: "`auto`: install the probe if the app serves gRPC; `required`: the same, and the build fails if no " +
			"server is found; `true`: always; `false`: never, whether the build names the buildpack or not",
		Values:  []string{EnabledAuto, EnabledRequired, EnabledTrue, EnabledFalse},
		Default: EnabledAuto, Example: EnabledTrue,
		read: choice(func(c *Config) *string { return &c.Enabled }),
	},
	{
		Name:    ArgsEnv,
		Meaning: "the probe's default flags, as shell words; checked when the image is built",
		Example: "-addr=:8443 -tls -tls-ca-cert=/etc/ca.pem",
		read:    words(func(c *Config) *[]string { return &c.Args }),
	},
	{
		Name: DetectPortEnv,
		Meaning: "`true`: the address that the app's source states, or the variable that it reads, is the probe's " +
			"default, used only if no flag or variable of the probe sets one; `false`: it is not",
		Values: []string{"true", "false"}, Default: "true", Example: "false",
		read: isTrue(func(c *Config) *bool { return &c.DetectPort }),
	},
	{
		Name: DiscoverEnv,
		Meaning: "`true`: a probe that no address is given, or that finds no gRPC server at the one that the build " +
			"found, asks the sockets on which its own container listens; `false`: it does not",
		Values: []string{"true", "false"}, Default: "true", Example: "false",
		read: isTrue(func(c *Config) *bool { return &c.Discover }),
	},
	{
		Name: SourceEnv,
		Meaning: "`bundled`: the probe that comes with the buildpack; `compile`: the same, compiled with the build " +
			"image's Go; `download`: from a release on GitHub ([sources](sources.md))",
		Values: []string{Bundled, Compile, Download}, Default: Bundled, Example: Compile,
		read: choice(func(c *Config) *string { return &c.Source }),
	},
	{
		Name: VariantEnv,
		Meaning: "`lean`: the probe that costs little; `full`: the one with `-alts` and `-spiffe`; `auto`: full if " +
			"the default flags need it",
		Values: []string{VariantAuto, VariantLean, VariantFull}, Default: VariantAuto, Example: VariantFull,
		read: choice(func(c *Config) *string { return &c.Variant }),
	},
	{
		Name: BridgeEnv,
		Meaning: "`launch`: also install the [bridge](bridge.md), which verifies, for native " +
			"probes and HTTP health checks to ask, and have it start with the app in the app's own container; " +
			"`true`: install it for a sidecar; `false`: do not",
		Values: []string{BridgeLaunch, BridgeTrue, BridgeFalse}, Default: BridgeFalse, Example: BridgeLaunch,
		read: choice(func(c *Config) *string { return &c.Bridge }),
	},
	{
		Name: ProcessesEnv,
		Meaning: "for `launch`: the types of the processes that the bridge starts with, such as `web`, with spaces " +
			"between several; without it all of them",
		Example: "web grpc",
		read:    processTypes(func(c *Config) *[]string { return &c.Processes }),
		needs:   forLaunch(),
	},
	{
		Name:    RepoEnv,
		Meaning: "for `download`: the repository, `owner/name`",
		Default: "grpc-ecosystem/grpc-health-probe", Example: "my-org/probe",
		read:  text(func(c *Config) *string { return &c.Repo }),
		needs: forDownload(),
	},
	{
		Name: AssetEnv,
		Meaning: "for `download`: the release's file, a program or an archive with one; `{os}` and `{arch}` stand " +
			"for the image's",
		Default: "grpc_health_probe-{os}-{arch}", Example: "probe_{os}_{arch}.tar.gz",
		read:  text(func(c *Config) *string { return &c.Asset }),
		needs: forDownload(),
	},
	{
		Name:    VersionEnv,
		Meaning: "for `download`: the release's tag, or `latest`",
		Default: DefaultRelease, Example: "latest",
		read:  text(func(c *Config) *string { return &c.Version }),
		needs: forDownload(),
	},
	{
		Name:    SHA256Env,
		Meaning: "for `download`: the file's digest; without it the buildpack must pin one, or the release state one",
		Example: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		read:    text(func(c *Config) *string { return &c.SHA256 }),
		needs:   forDownload(),
	},
	{
		Name:    GitHubAPIEnv,
		Meaning: "the API of a GitHub Enterprise ([tokens](sources.md#tokens) for it)",
		Default: "https://api.github.com", Example: "https://github.example.com/api/v3",
		read: text(func(c *Config) *string { return &c.GitHubAPI }),
	},
	{
		Name:    GitHubTokenEnv,
		Meaning: "a GitHub token, if there is no service binding of type `github` with the key `token`",
		Example: "ghp_...",
	},
}

// allowed returns the allowed values for a message: "a, b or c".
func (v Variable) allowed() string {
	last := len(v.Values) - 1
	return strings.Join(v.Values[:last], ", ") + " or " + v.Values[last]
}
