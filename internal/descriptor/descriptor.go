// Package descriptor reads of buildpack.toml what both phases need: the defaults of the build variables. Whoever
// packages the buildpack may have changed them.
package descriptor

import (
	"fmt"

	"github.com/paketo-buildpacks/libpak/v2"
)

// Defaults returns the defaults of variables by their names, of the metadata in buildpack.toml as libcnb passes them
// on.
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
