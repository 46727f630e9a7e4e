package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/buildpacks/libcnb/v2"

	"github.com/grpc-cnb/health-probe/build/assets"
	"github.com/grpc-cnb/health-probe/build/github"
)

// takenName are names of files that the lifecycle and buildpacks keep beside a layer: a folder of that name is taken for
// one, and removed, or hinders the build.
var takenName = regexp.MustCompile(`\.sbom\.|\.(toml|sha)$`)

// assetsMetadata is what a layer of GitHub assets depends on.
type assetsMetadata struct {
	Assets []placedAsset `toml:"assets"`
}

// placedAsset is an asset and where it was put.
type placedAsset struct {
	origin
	Destination string `toml:"destination"`
	// StripComponents is a number as text: the lifecycle keeps metadata as JSON and brings numbers back with a point.
	StripComponents string `toml:"strip_components"`
}

// AssetLayers contributes a launch layer for each repository of which the app wants assets, and one for the build
// variables' asset, verified and unpacked, with an SBOM. Repositories whose layers have one name share it. The lifecycle
// takes the name of a layer's SBOM to end at its first dot, so layers with one in their names are in the SBOM of the image.
func AssetLayers(releases releases, wanted []assets.Entry) ([]libcnb.Layer, error) {
	var names []string
	byLayer := map[string][]assets.Entry{}
	// The name of a layer becomes a path: nothing is opened by one that was not checked.
	for _, entry := range wanted {
		if _, err := releases.assetOf(entry); err != nil {
			return nil, err
		}
		if !slices.Contains(names, entry.Layer) {
			names = append(names, entry.Layer)
		}
		byLayer[entry.Layer] = append(byLayer[entry.Layer], entry)
	}
	var layers []libcnb.Layer
	dotted := component{name: assets.PlanEntry}
	for _, name := range names {
		layer, content, err := assetLayer(releases, name, byLayer[name])
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
		if isDotted(name) {
			dotted.parts = append(dotted.parts, content)
		}
	}
	if len(dotted.parts) == 0 {
		return layers, nil
	}
	return layers, writeSBOM(releases.ctx.Layers.LaunchSBOMPath, dotted)
}

// isDotted tells of the name of a layer that the lifecycle neither exports nor restores an SBOM of its own for it.
func isDotted(name string) bool { return strings.Contains(name, ".") }

// assetOf returns the asset of an entry.
func (r releases) assetOf(entry assets.Entry) (github.Asset, error) {
	asset := r.fill(github.Asset{Repo: entry.Repo, Name: entry.Asset, Tag: entry.Tag, SHA256: entry.SHA256,
		TagSetting: "tag", SHA256Setting: "sha256 of the entry in project.toml"})
	if entry.Layer == assets.VariablesLayer {
		asset.TagSetting, asset.SHA256Setting = "$"+assets.VersionEnv, "$"+assets.SHA256Env
	}
	if asset.Tag == "" {
		asset.Tag = github.Latest
	}
	if takenName.MatchString(entry.Layer) {
		return asset, fmt.Errorf("naming the layer %q: names with .sbom. in them, or .toml or .sha at their end, are taken", entry.Layer)
	}
	if entry.Destination != "" && !filepath.IsLocal(entry.Destination) {
		return asset, fmt.Errorf("reading the destination %q of %s: it leads out of its layer", entry.Destination, asset)
	}
	return asset, asset.Check()
}

// assetLayer contributes one layer. It is kept from the build before where nothing changed; "latest" is kept where GitHub
// cannot be reached. What the SBOM says comes with a layer that was made anew.
func assetLayer(r releases, name string, entries []assets.Entry) (layer libcnb.Layer, content component, err error) {
	layer, err = r.ctx.Layers.Layer(name)
	if err != nil {
		return layer, content, err
	}
	before, pinned, err := r.before(layer, entries)
	if err != nil {
		return layer, content, err
	}
	had := len(before.Assets) > 0
	if had && pinned {
		return r.reuse(layer), content, nil
	}
	work, err := os.MkdirTemp("", "github-assets")
	if err != nil {
		return layer, content, fmt.Errorf("making a folder to work in: %w", err)
	}
	defer os.RemoveAll(work)
	now, found, err := r.find(entries)
	changed := !slices.Equal(now.Assets, before.Assets)
	if err == nil && changed {
		err = download(found, work)
	}
	if had && github.IsUnavailable(err) {
		r.logger.Headerf("Warning: %s", err)
		r.logger.Headerf("Warning: the assets of the build before stay: %s", name)
		return r.reuse(layer), content, nil
	}
	if err != nil {
		return layer, content, err
	}
	if !changed {
		return r.reuse(layer), content, nil
	}
	content, err = r.fillLayer(&layer, now, found)
	return layer, content, err
}

// before returns what the layer has of the build before, if that is all that is wanted now, of "latest" what it was then;
// pinned tells that there is no "latest" among it.
func (r releases) before(layer libcnb.Layer, entries []assets.Entry) (metadata assetsMetadata, pinned bool, err error) {
	metadata = readMetadata[assetsMetadata](layer)
	had, pinned := !isDotted(layer.Name) && hasSBOM(layer) && len(metadata.Assets) == len(entries), true
	for i, entry := range entries {
		asset, err := r.assetOf(entry)
		if err != nil {
			return metadata, false, err
		}
		had = had && metadata.Assets[i].serves(r.api, asset) && metadata.Assets[i].isPlacedAs(entry)
		pinned = pinned && asset.Tag != github.Latest
	}
	if !had {
		metadata = assetsMetadata{}
	}
	return metadata, pinned, nil
}

// fillLayer makes the layer anew of what was downloaded, with its SBOM.
func (r releases) fillLayer(layer *libcnb.Layer, metadata assetsMetadata, found []*foundAsset) (component, error) {
	content := component{name: layer.Name}
	if err := forget(layer); err != nil {
		return content, err
	}
	err := contribute(layer, "GitHub assets "+layer.Name, metadata, r.logger, func() (err error) {
		content.parts, err = installAssets(found, layer.Path)
		return errors.Join(err, os.Chmod(layer.Path, 0o755))
	})
	if err != nil || isDotted(layer.Name) {
		return content, err
	}
	return content, writeSBOM(layer.SBOMPath, content)
}

func (r releases) reuse(layer libcnb.Layer) libcnb.Layer {
	r.logger.Bodyf("Reusing the GitHub assets %s", layer.Name)
	layer.LayerTypes = libcnb.LayerTypes{Launch: true}
	return layer
}

func (p placedAsset) isPlacedAs(entry assets.Entry) bool {
	return p.Destination == entry.Destination && p.StripComponents == strconv.Itoa(entry.StripComponents)
}

// find finds the assets.
func (r releases) find(entries []assets.Entry) (assetsMetadata, []*foundAsset, error) {
	var metadata assetsMetadata
	var found []*foundAsset
	for _, entry := range entries {
		asset, err := r.assetOf(entry)
		if err != nil {
			return metadata, nil, err
		}
		client, err := r.client(entry.TokenEnv, entry.Repo)
		if err != nil {
			return metadata, nil, err
		}
		release, err := resolve(client, asset)
		if err != nil {
			return metadata, nil, err
		}
		metadata.Assets = append(metadata.Assets, placedAsset{originOf(r.api, release), entry.Destination, strconv.Itoa(entry.StripComponents)})
		found = append(found, &foundAsset{client: client, release: release, entry: entry})
	}
	return metadata, found, nil
}

// download has all assets in work before anything is done to a layer.
func download(found []*foundAsset, work string) error {
	for i, asset := range found {
		asset.file = filepath.Join(work, strconv.Itoa(i))
		if err := asset.client.Download(context.Background(), asset.release, asset.file); err != nil {
			return err
		}
	}
	return nil
}

// installAssets puts the assets into the layer's folder, in their order, so that the last file of a name stays. It returns
// what the SBOM says of each: of its files those that stayed.
func installAssets(found []*foundAsset, dir string) ([]component, error) {
	files, last := make([][]string, len(found)), map[string]int{}
	for i, asset := range found {
		var err error
		if files[i], err = asset.install(dir); err != nil {
			return nil, err
		}
		for _, name := range files[i] {
			last[name] = i
		}
	}
	var content []component
	for i, asset := range found {
		gone := func(name string) bool {
			info, err := os.Lstat(filepath.Join(dir, name))
			return last[name] != i || err != nil || !info.Mode().IsRegular() // a link may have taken its place
		}
		installed, err := asset.component(dir, slices.DeleteFunc(files[i], gone))
		if err != nil {
			return nil, err
		}
		content = append(content, installed)
	}
	return content, nil
}
