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

	// layerFormat is the number of the rules by which layers are filled. Raise it where the names, modes or bytes in a layer
	// change for the same metadata: a layer that a release with other rules made is then made anew. It is text, since the
	// lifecycle keeps metadata as JSON and brings numbers back with a point.
	layerFormat = "1"
)

// keptMetadata is the metadata of a layer as the next build finds it.
type keptMetadata[M any] struct {
	Format  string `toml:"format"`
	Content M      `toml:"content"`
}

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
	err = contribute(&layer, programName+" "+describe(probe), metadataOf(probe), logger, func() error { return fill(Path(layer), probe) })
	if err != nil || probe.File == "" {
		return layer, err // the SBOM of a layer that stays in the image was restored with it
	}
	// Not part of the contribution: the SBOM is to be there for a reused layer as well.
	return layer, writeSBOM(layer.SBOMPath, probe.component())
}

// describe says what a probe is, for the log.
func describe(probe Probe) string {
	parts := []string{probe.Version, probe.Variant, probe.Source, probe.Platform}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// contribute has fill make the content of a launch layer, unless the metadata says that it is there already. The title is
// for the log.
func contribute[M any](layer *libcnb.Layer, title string, metadata M, logger log.Logger, fill func() error) error {
	if !reflect.DeepEqual(readMetadata[M](*layer), metadata) {
		if err := forget(layer); err != nil {
			return err
		}
	}
	contributor := libpak.NewLayerContributor(title, keptMetadata[M]{layerFormat, metadata}, libcnb.LayerTypes{Launch: true}, logger)
	return contributor.Contribute(layer, func(*libcnb.Layer) error { return fill() })
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
