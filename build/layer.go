package build

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"
	"github.com/paketo-buildpacks/libpak/v2/sherpa"
)

const (
	// layerName and programName make the path that users name in their pods: it never changes.
	layerName   = "probe"
	programName = "grpc_health_probe"
	// aliasName is the name that distributions' packages of grpc-health-probe use.
	aliasName = "grpc-health-probe"
)

// layerMetadata is what the content of the layer depends on: the layer of the previous build is kept where it is equal.
type layerMetadata struct {
	SHA256 string `toml:"sha256"`
	Source string `toml:"source"`
	// Download describes a downloaded probe.
	Download *downloadMetadata `toml:"download"`
}

// downloadMetadata is what the next build must know of a downloaded probe to keep it without downloading it again.
type downloadMetadata struct {
	origin
	Platform string `toml:"platform"`
	Module   string `toml:"module"`
}

func metadataOf(probe Probe) layerMetadata {
	metadata := layerMetadata{SHA256: probe.SHA256, Source: probe.Source}
	if probe.from != nil {
		metadata.Download = &downloadMetadata{*probe.from, probe.Platform, probe.module}
	}
	return metadata
}

// Path returns the path of the probe in the image for its layer.
func Path(layer libcnb.Layer) string { return filepath.Join(layer.Path, "bin", programName) }

// Layer contributes the launch layer with the probe, under both its names, and its SBOM. Nothing in the layer depends on
// the app, so all images of one release share it. A layer of the previous build with the same program is reused.
func Layer(layers libcnb.Layers, probe Probe, logger log.Logger) (libcnb.Layer, error) {
	layer, err := layers.Layer(layerName)
	if err != nil {
		return layer, err
	}
	metadata := metadataOf(probe)
	if !reflect.DeepEqual(readMetadata[layerMetadata](layer), metadata) {
		if err := forget(&layer); err != nil {
			return layer, err
		}
	}
	contributor := libpak.NewLayerContributor(programName+" "+describe(probe), metadata, libcnb.LayerTypes{Launch: true}, logger)
	err = contributor.Contribute(&layer, func(layer *libcnb.Layer) error { return fill(Path(*layer), probe) })
	if err != nil || probe.File == "" {
		return layer, err // the SBOM of a layer that stays in the image was restored with it
	}
	// Not part of the contribution: the SBOM is to be there for a reused layer as well.
	return layer, writeSBOM(layer, probe)
}

// describe says what a probe is, for the log.
func describe(probe Probe) string {
	parts := []string{probe.Version, probe.Variant, probe.Source, probe.Platform}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// forget removes the metadata of a layer before it is emptied and filled anew, so that no later build takes what is left
// of a build that was killed for the layer that the metadata described.
func forget(layer *libcnb.Layer) error {
	layer.Metadata = nil
	if err := os.Remove(layer.Path + ".toml"); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("removing the metadata of the layer %q: %w", layer.Name, err)
	}
	return nil
}

func fill(path string, probe Probe) error {
	if err := sherpa.CopyFileFrom(probe.File, path); err != nil {
		return fmt.Errorf("installing the probe: %w", err)
	}
	// The modes are part of the layer's digest, the build machine's umask must not be.
	for _, name := range []string{filepath.Dir(filepath.Dir(path)), filepath.Dir(path), path} {
		if err := os.Chmod(name, 0o755); err != nil {
			return fmt.Errorf("installing the probe: %w", err)
		}
	}
	if err := os.Symlink(programName, filepath.Join(filepath.Dir(path), aliasName)); err != nil {
		return fmt.Errorf("installing the probe's second name: %w", err)
	}
	return nil
}
