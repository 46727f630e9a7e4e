package build

import (
	"fmt"
	"net/url"

	"github.com/buildpacks/libcnb/v2"

	"github.com/grpc-cnb/health-probe/build/execprobe"
	"github.com/grpc-cnb/health-probe/build/github"
	"github.com/grpc-cnb/health-probe/build/githubassets"
	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/descriptor"
	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/probe/flags"
)

// settings are the values of the build variables, with the build phase's conclusions.
type settings struct {
	// The variant is lean or full here. The variant has no meaning for a downloaded probe.
	config.Config

	// defaults are the consequences of the probe's default flags.
	defaults flags.Defaults
	// download is the file to download the probe as.
	download github.Request
	// api is the address of GitHub's API.
	api *url.URL
}

// Requirements checks all settings of an app, whether the build will use them or not, and returns what its GitHub
// assets require of the build plan.
func Requirements(ctx libcnb.DetectContext) ([]plan.Requirement, error) {
	if _, err := readSettings(ctx.Buildpack); err != nil {
		return nil, err
	}
	return githubassets.Requirements(ctx.ApplicationPath)
}

// readSettings reads and checks the build variables. The probe's own parser checks the default flags, so a mistake in
// the flags fails the build and not each probe of each pod.
func readSettings(buildpack libcnb.Buildpack) (settings, error) {
	given, err := descriptor.Defaults(buildpack.Metadata)
	if err != nil {
		return settings{}, err
	}
	values, defaults, err := execprobe.ReadSettings(given)
	if err != nil {
		return settings{}, err
	}
	api, err := github.ParseAPI(values.GitHubAPI)
	if err != nil {
		return settings{}, fmt.Errorf("reading $%s: %w", config.GitHubAPIEnv, err)
	}
	values.Variant, err = chooseVariant(values.Variant, defaults.NeedsFull && values.Source != config.Download)
	if err != nil {
		return settings{}, err
	}
	download := github.Request{
		Repo: values.Repo, Asset: values.Asset, Tag: values.Version, SHA256: values.SHA256,
		TagSetting: "$" + config.VersionEnv, SHA256Setting: "$" + config.SHA256Env,
	}
	if values.Source == config.Download {
		err = download.Check()
	}
	return settings{values, defaults, download, api}, err
}

// chooseVariant returns the build to install, lean or full.
func chooseVariant(variant string, needsFull bool) (string, error) {
	switch {
	case variant == config.VariantLean && needsFull:
		return "", fmt.Errorf("checking $%s: the flags in $%s need the full probe (use full or auto)",
			config.VariantEnv, config.ArgsEnv)
	case variant == config.VariantFull, needsFull:
		return config.VariantFull, nil
	}
	return config.VariantLean, nil
}
