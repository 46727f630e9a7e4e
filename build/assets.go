package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/build/archive"
	"github.com/grpc-cnb/health-probe/build/assets"
	"github.com/grpc-cnb/health-probe/build/github"
)

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
// variables' asset, verified and unpacked.
func AssetLayers(ctx libcnb.BuildContext, settings Settings, wanted []assets.Entry, logger log.Logger) ([]libcnb.Layer, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	releases, err := newReleases(ctx, settings.API, logger)
	if err != nil {
		return nil, err
	}
	var names []string
	byLayer := map[string][]assets.Entry{}
	for _, entry := range wanted {
		if !slices.Contains(names, entry.Layer) {
			names = append(names, entry.Layer)
		}
		byLayer[entry.Layer] = append(byLayer[entry.Layer], entry)
	}
	// The name of a layer becomes a path: nothing is opened by one that was not checked.
	for _, entry := range wanted {
		if _, err := releases.assetOf(entry); err != nil {
			return nil, err
		}
	}
	var layers []libcnb.Layer
	for _, name := range names {
		layer, err := assetLayer(releases, name, byLayer[name])
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	return layers, nil
}

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
	if strings.Contains(entry.Layer, ".sbom.") {
		return asset, fmt.Errorf("naming the layer %q: names with .sbom. are taken", entry.Layer)
	}
	if entry.Destination != "" && !filepath.IsLocal(entry.Destination) {
		return asset, fmt.Errorf("reading the destination %q of %s: it leads out of its layer", entry.Destination, asset)
	}
	return asset, asset.Check()
}

// assetLayer contributes one layer. It is kept from the build before where nothing changed; "latest" is kept where GitHub
// cannot be asked.
func assetLayer(r releases, name string, entries []assets.Entry) (libcnb.Layer, error) {
	layer, err := r.ctx.Layers.Layer(name)
	if err != nil {
		return layer, err
	}
	before := readMetadata[assetsMetadata](layer)
	had, pinned := len(before.Assets) == len(entries), true
	for i, entry := range entries {
		asset, err := r.assetOf(entry)
		if err != nil {
			return layer, err
		}
		had = had && before.Assets[i].serves(r.api, asset) && before.Assets[i].isPlacedAs(entry)
		pinned = pinned && asset.Tag != github.Latest
	}
	metadata, plan := before, []transfer(nil)
	if !had || !pinned {
		metadata, plan, err = r.plan(entries)
		if had && github.IsUnavailable(err) {
			r.logger.Headerf("Warning: %s", err)
			r.logger.Headerf("Warning: the assets of the build before stay: %s", name)
			metadata, err = before, nil
		}
		if err != nil {
			return layer, err
		}
	}
	if slices.Equal(metadata.Assets, before.Assets) {
		r.logger.Bodyf("Reusing the GitHub assets %s", name)
		layer.LayerTypes = libcnb.LayerTypes{Launch: true}
		return layer, nil
	}
	if err := forget(&layer); err != nil {
		return layer, err
	}
	contributor := libpak.NewLayerContributor("GitHub assets "+name, metadata, libcnb.LayerTypes{Launch: true}, r.logger)
	err = contributor.Contribute(&layer, func(layer *libcnb.Layer) error {
		err := os.Chmod(layer.Path, 0o755)
		for _, transfer := range plan {
			err = errors.Join(err, transfer.run(layer.Path))
			if err != nil {
				break
			}
		}
		return err
	})
	return layer, err
}

func (p placedAsset) isPlacedAs(entry assets.Entry) bool {
	return p.Destination == entry.Destination && p.StripComponents == strconv.Itoa(entry.StripComponents)
}

// transfer is an asset that was found and is to be put into a layer.
type transfer struct {
	client  *github.Client
	release github.Release
	entry   assets.Entry
}

// plan finds the assets.
func (r releases) plan(entries []assets.Entry) (assetsMetadata, []transfer, error) {
	var metadata assetsMetadata
	var plan []transfer
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
		plan = append(plan, transfer{client, release, entry})
	}
	return metadata, plan, nil
}

// run downloads the asset and puts it into the layer's folder.
func (t transfer) run(dir string) error {
	work, err := os.MkdirTemp("", "github-asset")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	file := filepath.Join(work, "asset")
	if err := t.client.Download(context.Background(), t.release, file); err != nil {
		return err
	}
	packed, err := archive.Is(file)
	if err != nil {
		return err
	}
	if packed && t.entry.Layer != assets.VariablesLayer {
		return t.unpack(file, dir)
	}
	return t.place(file, dir)
}

func (t transfer) unpack(file, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	destination := path.Clean(t.entry.Destination)
	if err := makeFolders(root, destination); err != nil {
		return fmt.Errorf("unpacking %s into %q: %w", t.release.Asset, t.entry.Destination, err)
	}
	if _, err := archive.Unpack(file, t.release.Name, filepath.Join(dir, destination), t.entry.StripComponents); err != nil {
		return err
	}
	if name := launcherFolder(root); destination == "." && name != "" {
		return fmt.Errorf("unpacking %s: it puts %q at the layer's root, where the image's launcher runs or sets what is in it (set a destination)",
			t.release.Asset, name)
	}
	return nil
}

// launcherFolder returns a folder at the layer's root that the launcher acts upon, or "" (buildpack spec, Environment and
// exec.d). A user may ask for one by a destination; what an archive brings unasked would run in the app's container.
func launcherFolder(root *os.Root) string {
	for _, name := range []string{"env", "env.launch", "exec.d", "profile.d"} {
		if info, err := root.Stat(name); err == nil && info.IsDir() {
			return name
		}
	}
	return ""
}

// makeFolders makes a folder of the layer, with a mode that the build machine's umask has no part in. An archive before
// may have left a link in its place: that is none.
func makeFolders(root *os.Root, name string) error {
	if name == "." {
		return nil
	}
	if err := makeFolders(root, path.Dir(name)); err != nil {
		return err
	}
	if info, err := root.Lstat(name); err == nil && !info.IsDir() {
		return fmt.Errorf("%q is there and is no folder", name)
	}
	if err := root.Mkdir(name, 0o755); err != nil && !os.IsExist(err) {
		return err
	}
	return root.Chmod(name, 0o755)
}

// place puts a single file where the entry says: a name, or a folder with a slash behind it.
func (t transfer) place(file, dir string) error {
	name := t.entry.Destination
	if name == "" {
		name = "bin/"
	}
	if strings.HasSuffix(name, "/") {
		name += t.release.Name
	}
	name = path.Clean(name)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	err = makeFolders(root, path.Dir(name))
	if err == nil {
		err = copyInto(root, name, in)
	}
	if err != nil {
		return fmt.Errorf("installing %s as %q: %w", t.release.Asset, name, err)
	}
	return nil
}

// copyInto writes a new file, executable where it is a program.
func copyInto(root *os.Root, name string, in io.ReadSeeker) error {
	start := make([]byte, 4)
	n, _ := io.ReadFull(in, start)
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	out, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if archive.IsProgram(start[:n]) {
		mode = 0o755
	}
	return errors.Join(out.Chmod(mode), out.Close())
}
