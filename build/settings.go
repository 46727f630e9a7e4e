package build

import (
	"errors"
	"fmt"
	"strings"

	"github.com/buildpacks/libcnb/v2"
	"github.com/kballard/go-shellquote"
	"github.com/paketo-buildpacks/libpak/v2"

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
	// Variant is the build of the probe to install, "lean" or "full".
	Variant string
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
	value, _ = resolver.ResolveAndTrim(VariantEnv)
	variant, err := chooseVariant(value, defaults.NeedsFull)
	return Settings{Args: args, Defaults: defaults, Source: source, Variant: variant}, err
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
	case detect.Bundled, detect.Compile:
		return source, nil
	}
	return "", fmt.Errorf("reading $%s: %q is not allowed: use bundled or compile", detect.SourceEnv, value)
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
