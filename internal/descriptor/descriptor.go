// Package descriptor reads the defaults of the build variables from buildpack.toml, for both phases. Whoever packages
// the buildpack may have changed the defaults.
package descriptor

import (
	"fmt"

	"github.com/paketo-buildpacks/libpak/v2"
)

// Defaults returns the defaults of variables by name, from the metadata in buildpack.toml as libcnb passes them on.
func Defaults(metadata map[string]any) (map[string]string, error) {
	module, err := libpak.NewBuildModuleMetadata(metadata)
	if err != nil {
		return nil, fmt.Errorf("reading the buildpack's metadata: %w", err)
	}
	defaults := map[string]string{}
	for _, configuration := range module.Configurations {
		defaults[configuration.Name] = configuration.Default
	}
	return defaults, nil
}
