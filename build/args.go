package build

import (
	"errors"
	"fmt"

	"github.com/buildpacks/libcnb/v2"
	"github.com/kballard/go-shellquote"
	"github.com/paketo-buildpacks/libpak/v2"

	"github.com/grpc-cnb/health-probe/probe"
)

// ArgsEnv is the build variable with the probe's default flags, as shell words. Default: none.
// Example: BP_GRPC_HEALTH_PROBE_ARGS='-addr=:8443 -tls -tls-ca-cert=/etc/ca.pem'.
const ArgsEnv = "BP_GRPC_HEALTH_PROBE_ARGS"

// Args returns the words of $BP_GRPC_HEALTH_PROBE_ARGS, checked by the probe's own parser, so that a mistake fails the
// build and not each probe of each pod.
func Args(buildpack libcnb.Buildpack) ([]string, error) {
	metadata, err := libpak.NewBuildModuleMetadata(buildpack.Metadata)
	if err != nil {
		return nil, fmt.Errorf("reading the buildpack's metadata: %w", err)
	}
	resolver, err := libpak.NewConfigurationResolver(metadata)
	if err != nil {
		return nil, fmt.Errorf("reading the buildpack's configurations: %w", err)
	}
	value, _ := resolver.ResolveAndTrim(ArgsEnv)
	words, err := shellquote.Split(value)
	if err != nil {
		return nil, fmt.Errorf("splitting $%s into shell words: %w", ArgsEnv, err)
	}
	err = probe.CheckArgs(words)
	if failure, ok := errors.AsType[*probe.Failure](err); ok && failure.Hint != "" {
		err = fmt.Errorf("%w (%s)", err, failure.Hint)
	}
	if err != nil {
		return nil, fmt.Errorf("checking $%s: %w", ArgsEnv, err)
	}
	return words, nil
}
