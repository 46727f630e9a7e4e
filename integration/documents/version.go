package documents

import (
	"fmt"
	"path/filepath"

	"github.com/BurntSushi/toml"
)

// Version returns the buildpack's version from buildpack.toml.
func Version(repository string) (string, error) {
	var descriptor struct {
		Buildpack struct {
			Version string `toml:"version"`
		} `toml:"buildpack"`
	}
	if _, err := toml.DecodeFile(filepath.Join(repository, "buildpack.toml"), &descriptor); err != nil {
		return "", fmt.Errorf("reading the buildpack's version: %w", err)
	}
	return descriptor.Buildpack.Version, nil
}
