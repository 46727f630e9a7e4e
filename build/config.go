package build

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/probe"
)

// ConfigLayer contributes the launch layer with the probe's default flags. It is a layer of its own, so that the one
// with the program is the same for every app.
func ConfigLayer(layers libcnb.Layers, args []string, logger log.Logger) (libcnb.Layer, error) {
	layer, err := layers.Layer("config")
	if err != nil {
		return layer, err
	}
	content, err := probe.FormatArgsFile(args)
	if err != nil {
		return layer, fmt.Errorf("checking $%s: %w", ArgsEnv, err)
	}
	// A digest, because layer metadata ends in an image label and the flags may hold a secret.
	digest := sha256.Sum256(content)
	metadata := map[string]string{"sha256": hex.EncodeToString(digest[:])}
	err = contribute(&layer, "default flags", metadata, logger, func() error {
		file := filepath.Join(layer.Path, probe.ArgsFileName)
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return fmt.Errorf("writing the default flags: %w", err)
		}
		return errors.Join(os.Chmod(layer.Path, 0o755), os.Chmod(file, 0o644))
	})
	return layer, err
}
