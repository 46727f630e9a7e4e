// Package launch contributes launch layers. Each build fills the layers again, since the platform states the content of
// the build before without proof. The exporter reuses a layer of the same content by digest.
//
// Begin with [Contribute]; [Metadata] returns the records of the build before.
package launch

import (
	"fmt"
	"os"

	"github.com/BurntSushi/toml"
	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"
)

var (
	// Plain are the types of a layer for the image alone.
	Plain = libcnb.LayerTypes{Launch: true}
	// Kept are the types of a layer for the image and for the next build, to save a download.
	Kept = libcnb.LayerTypes{Launch: true, Cache: true}
)

// format is the version of the rules for the content of layers. Raise format if the names, modes or bytes in a layer
// change under the same metadata: the records of releases with different rules are then forgotten. The type is text
// because the lifecycle keeps metadata as JSON and returns numbers with a decimal point.
const format = "2"

// formatted is the written form of a layer's metadata.
type formatted[M any] struct {
	Format  string `toml:"format"`
	Content M      `toml:"content"`
}

// Contribute contributes a launch layer, and calls fill to make the layer's content in the empty folder layer.Path.
// Title names the layer in the log. The types tell whether the next build gets the content too.
func Contribute[M any](
	layer *libcnb.Layer, title string, metadata M, types libcnb.LayerTypes, logger log.Logger, fill func() error,
) error {
	if err := Forget(layer); err != nil {
		return err
	}
	contributor := libpak.NewLayerContributor(title, formatted[M]{format, metadata}, types, logger)
	return contributor.Contribute(layer, func(*libcnb.Layer) error { return fill() })
}

// Metadata returns a layer's metadata from the build before, or the zero value for metadata of another type or of
// outdated rules.
func Metadata[M any](layer libcnb.Layer) M {
	var metadata formatted[M]
	text, err := toml.Marshal(layer.Metadata)
	if err != nil || toml.Unmarshal(text, &metadata) != nil || metadata.Format != format {
		var none M
		return none
	}
	return metadata.Content
}

// Encode returns metadata in the form for Metadata, for layers with metadata that depends on the content.
func Encode[M any](metadata M) (map[string]any, error) {
	encoded := map[string]any{}
	text, err := toml.Marshal(formatted[M]{format, metadata})
	if err == nil {
		err = toml.Unmarshal(text, &encoded)
	}
	if err != nil {
		return nil, fmt.Errorf("encoding the metadata of a layer: %w", err)
	}
	return encoded, nil
}

// Forget removes the metadata of a layer before the layer is emptied and filled again. If the build is killed
// meanwhile, the next build cannot mistake the remains in the layer for the content in the metadata.
func Forget(layer *libcnb.Layer) error {
	layer.Metadata = nil
	if err := os.Remove(layer.Path + ".toml"); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("removing the metadata of the layer %q: %w", layer.Name, err)
	}
	return nil
}
