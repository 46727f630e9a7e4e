package githubassets

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/build/github"
	"github.com/grpc-cnb/health-probe/build/launch"
	"github.com/grpc-cnb/health-probe/build/sbom"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// layerMetadata determines the content of a layer.
type layerMetadata struct {
	Assets []ResolvedAsset `toml:"assets"`
	// Digest is the content's digest (launch.Digest).
	Digest string `toml:"digest"`
}

type builder struct {
	ctx    libcnb.BuildContext
	host   github.Host
	logger log.Logger
}

// Contribute contributes a launch layer for each requested repository, and a layer for the asset of the build
// variables. Contribute verifies assets and unpacks archives. Repositories with the same layer name share a layer.
// Each layer has an SBOM, except layers with a dot in the name: the lifecycle would neither export nor restore the
// SBOM, so the SBOM of the image lists the contents.
func Contribute(
	ctx libcnb.BuildContext, host github.Host, requests []Request, logger log.Logger,
) ([]libcnb.Layer, error) {
	b := builder{ctx, host, logger}
	var names []string
	byLayer := map[string][]Request{}
	// The name of a layer becomes a path, so all requests are checked before any layer is opened.
	for _, request := range requests {
		request, err := request.forTarget(ctx.TargetInfo)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, request.Layer) {
			names = append(names, request.Layer)
		}
		byLayer[request.Layer] = append(byLayer[request.Layer], request)
	}
	var layers []libcnb.Layer
	dotted := sbom.Component{Name: entryName}
	for _, name := range names {
		layer, content, err := b.layer(name, byLayer[name])
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
		if isDotted(name) {
			dotted.Parts = append(dotted.Parts, content)
		}
	}
	if len(dotted.Parts) == 0 {
		return layers, nil
	}
	return layers, sbom.Write(ctx.Layers.LaunchSBOMPath, dotted)
}

// isDotted reports whether the lifecycle would lose a layer's SBOM, since the lifecycle cuts names at the first dot.
func isDotted(name string) bool { return strings.Contains(name, ".") }

// layer contributes one layer. The layer of the build before is reused if it holds what it should and nothing
// changed, and if "latest" is requested and GitHub cannot be asked. The component is empty for a reused layer.
func (b builder) layer(name string, requests []Request) (libcnb.Layer, sbom.Component, error) {
	layer, err := b.ctx.Layers.Layer(name)
	if err != nil {
		return layer, sbom.Component{}, err
	}
	for i, request := range requests {
		requests[i].Request = b.host.Pinned(request.Request)
	}
	metadata := launch.Metadata[layerMetadata](layer)
	hadAll := b.holds(layer, metadata, requests)
	isLatest := func(request Request) bool { return request.Tag == github.Latest }
	if hadAll && !slices.ContainsFunc(requests, isLatest) {
		return b.reuse(layer, metadata.Assets), sbom.Component{}, nil
	}
	work, err := workFolder()
	if err != nil {
		return layer, sbom.Component{}, err
	}
	defer os.RemoveAll(work)
	installations, err := b.resolve(requests)
	if err == nil {
		err = checkUnchanged(installations, metadata.Assets)
	}
	assets := assetsOf(installations)
	changed := !hadAll || !slices.EqualFunc(assets, metadata.Assets, ResolvedAsset.same)
	if err == nil && changed {
		err = download(installations, work)
	}
	if hadAll && github.IsUnavailable(err) {
		b.logger.Headerf("Warning: %s", plan.SafeError(err))
		b.logger.Headerf("Warning: the assets of the build before stay: %s", name)
		return b.reuse(layer, metadata.Assets), sbom.Component{}, nil
	}
	if err != nil {
		return layer, sbom.Component{}, err
	}
	if !changed {
		return b.reuse(layer, assets), sbom.Component{}, nil
	}
	content, err := b.fill(&layer, installations)
	return layer, content, err
}

// holds reports whether the layer of the build before has the requested assets. Any release satisfies a request for
// "latest". The layer's content has to agree with the layer's metadata.
func (b builder) holds(layer libcnb.Layer, metadata layerMetadata, requests []Request) bool {
	assets := metadata.Assets
	if isDotted(layer.Name) || !sbom.Exists(layer.SBOMPath) || len(assets) != len(requests) {
		return false
	}
	for i, request := range requests {
		if !assets[i].Satisfies(request.Request, b.host.API) || assets[i].Destination != request.Destination ||
			assets[i].StripComponents != strconv.Itoa(request.StripComponents) {
			return false
		}
	}
	digest, err := launch.Digest(layer.Path)
	return err == nil && digest == metadata.Digest
}

// checkUnchanged returns an error if a release has another file than in the build before.
func checkUnchanged(installations []*installation, before []ResolvedAsset) error {
	for _, i := range installations {
		for _, asset := range before {
			if err := i.asset.CheckUnchanged(asset.ResolvedAsset, i.request.Request); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill makes the layer anew from the downloads, with the SBOM.
func (b builder) fill(layer *libcnb.Layer, installations []*installation) (sbom.Component, error) {
	content := sbom.Component{Name: layer.Name}
	assets := assetsOf(installations)
	title, types := "GitHub assets "+layer.Name, launch.Kept
	if isDotted(layer.Name) {
		types = launch.Plain // the next build could not tell what it is from its SBOM
	}
	err := launch.Contribute(layer, title, layerMetadata{Assets: assets}, types, b.logger, func() (err error) {
		content.Parts, err = install(installations, layer.Path)
		return errors.Join(err, os.Chmod(layer.Path, 0o755))
	})
	if err != nil {
		return content, err
	}
	digest, err := launch.Digest(layer.Path)
	if err == nil {
		layer.Metadata, err = launch.Encode(layerMetadata{assets, digest})
	}
	b.report(assets)
	if err != nil || isDotted(layer.Name) {
		return content, err
	}
	return content, sbom.Write(layer.SBOMPath, content)
}

func (b builder) reuse(layer libcnb.Layer, assets []ResolvedAsset) libcnb.Layer {
	b.logger.Bodyf("Reusing the GitHub assets %s", layer.Name)
	b.report(assets)
	layer.LayerTypes = launch.Kept
	return layer
}

// report logs the digests that verified the assets.
func (b builder) report(assets []ResolvedAsset) {
	for _, asset := range assets {
		b.logger.Body(asset.Verified("sha256 = "))
	}
}
