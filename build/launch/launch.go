// Package launch contributes launch layers. A layer is filled by each build: the platform says what the layer of the
// build before held, and does not prove it. An exporter that finds the same content in it reuses it by its digest.
//
// Begin with [Contribute]; [Metadata] returns what the build before recorded.
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
	// Plain are the types of a layer that is in the image alone.
	Plain = libcnb.LayerTypes{Launch: true}
	// Kept are those of a layer whose content the next build gets too, to save a download.
	Kept = libcnb.LayerTypes{Launch: true, Cache: true}
)

// format is the version of the rules by which layers are filled. Raise it if the names, modes or bytes in a layer
// change while its metadata stays the same: what releases with other rules recorded is then forgotten. It is text,
// because the lifecycle keeps metadata as JSON and returns numbers with a decimal point.
const format = "2"

// formatted is the metadata of a layer as it is written.
type formatted[M any] struct {
	Format  string `toml:"format"`
	Content M      `toml:"content"`
}

// Contribute contributes a launch layer. It calls fill to make the layer's content in the empty folder layer.Path.
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

// Metadata returns the metadata that the build before wrote for a layer. Metadata of another type or of rules that no
// longer hold is the zero value.
func Metadata[M any](layer libcnb.Layer) M {
	var metadata formatted[M]
	text, err := toml.Marshal(layer.Metadata)
	if err != nil || toml.Unmarshal(text, &metadata) != nil || metadata.Format != format {
		var none M
		return none
	}
	return metadata.Content
}

// Encode returns metadata in the form that Metadata reads, for a layer whose metadata depends on its content.
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

// Forget removes the metadata of a layer, which is to be emptied and filled again. If this build is killed meanwhile,
// the next one cannot mistake what is left in the layer for what the metadata described.
func Forget(layer *libcnb.Layer) error {
	layer.Metadata = nil
	if err := os.Remove(layer.Path + ".toml"); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("removing the metadata of the layer %q: %w", layer.Name, err)
	}
	return nil
}
