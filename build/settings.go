package build

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/buildpacks/libcnb/v2"
	"github.com/kballard/go-shellquote"
	"github.com/paketo-buildpacks/libpak/v2"

	"github.com/grpc-cnb/health-probe/build/github"
	"github.com/grpc-cnb/health-probe/detect"
	"github.com/grpc-cnb/health-probe/probe"
)

const (
	// ArgsEnv is the build variable with the probe's default flags, as shell words. Default: none.
	// Example: BP_GRPC_HEALTH_PROBE_ARGS='-addr=:8443 -tls -tls-ca-cert=/etc/ca.pem'.
	ArgsEnv = "BP_GRPC_HEALTH_PROBE_ARGS"
	// VariantEnv is the build variable that says which build of the probe is installed: "lean", which costs little;
	// "full", on grpc-go, which has -alts and -spiffe; "auto", full where the default flags need it. Default: "auto".
	// Example: BP_GRPC_HEALTH_PROBE_VARIANT=full.
	VariantEnv = "BP_GRPC_HEALTH_PROBE_VARIANT"
	// RepoEnv is the build variable with the repository, owner/name, whose release the probe is downloaded from. Default:
	// "grpc-ecosystem/grpc-health-probe". Example: BP_GRPC_HEALTH_PROBE_REPO=my-org/probe.
	RepoEnv = "BP_GRPC_HEALTH_PROBE_REPO"
	// AssetEnv is the build variable with the name of the release's file, a program or an archive with one, in which {os}
	// and {arch} stand for the target's. Default: "grpc_health_probe-{os}-{arch}". Example:
	// BP_GRPC_HEALTH_PROBE_ASSET=probe_{os}_{arch}.tar.gz.
	AssetEnv = "BP_GRPC_HEALTH_PROBE_ASSET"
	// VersionEnv is the build variable with the release's tag, or "latest". Default: "v0.4.56". Example:
	// BP_GRPC_HEALTH_PROBE_VERSION=latest.
	VersionEnv = "BP_GRPC_HEALTH_PROBE_VERSION"
	// SHA256Env is the build variable with the digest, in hex, that the downloaded file must have. Default: none, the release
	// has to say. Example: BP_GRPC_HEALTH_PROBE_SHA256=9f86d081...
	SHA256Env = "BP_GRPC_HEALTH_PROBE_SHA256"
	// APIEnv is the build variable with the address of a GitHub Enterprise's API. Default: "https://api.github.com".
	// Example: BP_GITHUB_API_URL=https://github.example.com/api/v3.
	APIEnv = "BP_GITHUB_API_URL"
	// TokenEnv is the environment variable with a GitHub token, for those who have no service binding. Default: none.
	TokenEnv = "BP_GITHUB_TOKEN"
)

// The builds of the probe.
const (
	lean = "lean"
	full = "full"
)

// Settings are the values of the build variables, checked.
type Settings struct {
	// Args are the probe's default flags, Defaults what they say.
	Args     []string
	Defaults probe.Defaults
	// Source says where the probe comes from.
	Source string
	// Variant is the build of the probe to install, "lean" or "full". What is downloaded has none.
	Variant string
	// Download is the asset to download the probe as, its name not yet filled with the target.
	Download github.Asset
	// API is the GitHub to ask.
	API *url.URL
}

// ReadSettings reads the build variables; buildpack.toml has their defaults. The default flags are checked by the probe's
// own parser, so that a mistake fails the build and not each probe of each pod.
func ReadSettings(buildpack libcnb.Buildpack) (Settings, error) {
	metadata, err := libpak.NewBuildModuleMetadata(buildpack.Metadata)
	if err != nil {
		return Settings{}, fmt.Errorf("reading the buildpack's metadata: %w", err)
	}
	resolver, err := libpak.NewConfigurationResolver(metadata)
	if err != nil {
		return Settings{}, fmt.Errorf("reading the buildpack's configurations: %w", err)
	}
	value, _ := resolver.ResolveAndTrim(ArgsEnv)
	args, defaults, err := parseArgs(value)
	if err != nil {
		return Settings{}, err
	}
	value, _ = resolver.ResolveAndTrim(detect.SourceEnv)
	source, err := chooseSource(value)
	if err != nil {
		return Settings{}, err
	}
	settings := Settings{Args: args, Defaults: defaults, Source: source}
	if settings.API, settings.Download, err = readDownload(metadata, resolver); err != nil {
		return settings, err
	}
	value, _ = resolver.ResolveAndTrim(VariantEnv)
	settings.Variant, err = chooseVariant(value, defaults.NeedsFull && source != detect.Download)
	return settings, err
}

// readDownload reads what to download, and from which GitHub. A variable set to nothing is not set.
func readDownload(metadata libpak.BuildModuleMetadata, resolver libpak.ConfigurationResolver) (*url.URL, github.Asset, error) {
	read := func(name string) string {
		value, _ := resolver.ResolveAndTrim(name)
		for _, configuration := range metadata.Configurations {
			if value == "" && configuration.Name == name {
				return configuration.Default
			}
		}
		return value
	}
	asset := github.Asset{Repo: read(RepoEnv), Name: read(AssetEnv), Tag: read(VersionEnv), SHA256: read(SHA256Env),
		TagSetting: "$" + VersionEnv, SHA256Setting: "$" + SHA256Env}
	api, err := github.ParseAPI(cmp.Or(read(APIEnv), github.DefaultAPI))
	if err != nil {
		return nil, asset, fmt.Errorf("reading $%s: %w", APIEnv, err)
	}
	return api, asset, nil
}

func parseArgs(value string) ([]string, probe.Defaults, error) {
	words, err := shellquote.Split(value)
	if err != nil {
		return nil, probe.Defaults{}, fmt.Errorf("splitting $%s into shell words: %w", ArgsEnv, err)
	}
	defaults, err := probe.ReadDefaults(words)
	if failure, ok := errors.AsType[*probe.Failure](err); ok && failure.Hint != "" {
		err = fmt.Errorf("%w (%s)", err, failure.Hint)
	}
	if err != nil {
		return nil, defaults, fmt.Errorf("checking $%s: %w", ArgsEnv, err)
	}
	return words, defaults, nil
}

func chooseSource(value string) (string, error) {
	switch source := strings.ToLower(value); source {
	case "":
		return detect.Bundled, nil
	case detect.Bundled, detect.Compile, detect.Download:
		return source, nil
	}
	return "", fmt.Errorf("reading $%s: %q is not allowed: use bundled, compile or download", detect.SourceEnv, value)
}

func chooseVariant(value string, needsFull bool) (string, error) {
	switch variant := strings.ToLower(value); {
	case variant == lean && needsFull:
		return "", fmt.Errorf("checking $%s: the flags in $%s need the full probe (use full or auto)", VariantEnv, ArgsEnv)
	case variant == full, needsFull && (variant == "auto" || variant == ""):
		return full, nil
	case variant == lean, variant == "auto", variant == "":
		return lean, nil
	}
	return "", fmt.Errorf("reading $%s: %q is not allowed: use auto, lean or full", VariantEnv, value)
}
