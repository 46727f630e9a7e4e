package build

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/build/launch"
	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/probe/flags"
)

// probeConfig is the configuration of one app: the default flags, and the address in the app's source. The probe reads
// both files in the image; a nil file is left out. bridge has the processes with which the launcher starts the bridge.
type probeConfig struct {
	argsFile, addressFile []byte
	bridge                *bridge
}

// newProbeConfig returns the files for default flags and for the findings about the server, which may be empty.
func newProbeConfig(args []string, found flags.FoundAddress) (probeConfig, error) {
	var files probeConfig
	var err error
	if len(args) > 0 {
		if files.argsFile, err = flags.FormatArgsFile(args); err != nil {
			return files, fmt.Errorf("checking $%s: %w", config.ArgsEnv, err)
		}
	}
	if found != (flags.FoundAddress{}) {
		files.addressFile = flags.FormatAddressFile(found)
	}
	return files, nil
}

func (c probeConfig) isEmpty() bool {
	return c.argsFile == nil && c.addressFile == nil && !c.bridge.isStartedByLauncher()
}

// contribute contributes the launch layer with the files. The layer is separate, so that the layer with the program is
// the same for every app.
func (c probeConfig) contribute(layers libcnb.Layers, logger log.Logger) (libcnb.Layer, error) {
	layer, err := layers.Layer("config")
	if err != nil {
		return layer, err
	}
	// The metadata are digests: layer metadata is copied into an image label, and the flags may hold a secret.
	metadata := map[string]string{"sha256": digestOf(c.argsFile), "address-sha256": digestOf(c.addressFile)}
	if c.bridge.isStartedByLauncher() {
		metadata["bridge"] = "launch " + strings.Join(c.bridge.Processes, " ")
	}
	err = launch.Contribute(&layer, c.title(), metadata, launch.Plain, logger, func() error {
		contents := map[string][]byte{flags.ArgsFileName: c.argsFile, flags.AddressFileName: c.addressFile}
		for name, content := range contents {
			if content == nil {
				continue
			}
			if err := writeFile(filepath.Join(layer.Path, name), content); err != nil {
				return err
			}
		}
		for _, path := range c.bridge.starters(layer.Exec) {
			if err := c.bridge.link(path); err != nil {
				return err
			}
		}
		return os.Chmod(layer.Path, 0o755)
	})
	return layer, err
}

// title names the content of the layer for the log.
func (c probeConfig) title() string {
	var parts []string
	if c.argsFile != nil {
		parts = append(parts, "default flags")
	}
	if bytes.HasPrefix(c.addressFile, []byte("\n\n")) { // neither an address nor a variable
		parts = append(parts, "how to search for the server")
	} else if c.addressFile != nil {
		parts = append(parts, "default address")
	}
	if c.bridge.isStartedByLauncher() {
		parts = append(parts, "start of the bridge")
	}
	return strings.Join(parts, ", ")
}

// writeFile writes a file that every user of the image can read, whatever the umask.
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
