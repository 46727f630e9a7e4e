package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/build/launch"
	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/probe"
)

// probeConfig is what the probe reads in the image: the default flags, and the port that the app's source states. Both
// are left out where they are nil.
type probeConfig struct {
	argsFile, portFile []byte
}

// newProbeConfig returns the files for default flags, and for a port and the place where it is written. Port 0 is none.
func newProbeConfig(args []string, port int, place string) (probeConfig, error) {
	var files probeConfig
	var err error
	if len(args) > 0 {
		if files.argsFile, err = probe.FormatArgsFile(args); err != nil {
			return files, fmt.Errorf("checking $%s: %w", config.ArgsEnv, err)
		}
	}
	if port != 0 {
		files.portFile = probe.FormatPortFile(port, place)
	}
	return files, nil
}

// isEmpty reports whether there is nothing for the probe to read.
func (c probeConfig) isEmpty() bool { return c.argsFile == nil && c.portFile == nil }

// contribute contributes the launch layer with the files. It is a layer of its own, so that the layer with the program
// is the same for every app.
func (c probeConfig) contribute(layers libcnb.Layers, logger log.Logger) (libcnb.Layer, error) {
	layer, err := layers.Layer("config")
	if err != nil {
		return layer, err
	}
	// The metadata are digests, because metadata of layers is copied into an image label and the flags may hold a
	// secret.
	metadata := map[string]string{"sha256": digestOf(c.argsFile), "port-sha256": digestOf(c.portFile)}
	err = launch.Contribute(&layer, c.title(), metadata, launch.Plain, logger, func() error {
		for name, content := range map[string][]byte{probe.ArgsFileName: c.argsFile, probe.PortFileName: c.portFile} {
			if content == nil {
				continue
			}
			if err := writeFile(filepath.Join(layer.Path, name), content); err != nil {
				return err
			}
		}
		return os.Chmod(layer.Path, 0o755)
	})
	return layer, err
}

// title says in the log what the layer holds.
func (c probeConfig) title() string {
	switch {
	case c.portFile == nil:
		return "default flags"
	case c.argsFile == nil:
		return "default port"
	}
	return "default flags and port"
}

// writeFile writes a file that every user of the image can read, whatever the umask is.
func writeFile(path string, content []byte) error {
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return fmt.Errorf("writing what the probe reads: %w", err)
	}
	return os.Chmod(path, 0o644)
}

// digestOf returns the hex digest of a file's content, "" for no file.
func digestOf(content []byte) string {
	if content == nil {
		return ""
	}
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:])
}
