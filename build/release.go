package build

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"

	"github.com/grpc-cnb/health-probe/build/github"
)

// origin says which asset a layer was made from. It is in the metadata of layers: by it the next build knows whether
// there is anything to ask GitHub for.
type origin struct {
	API    string `toml:"api"`
	Repo   string `toml:"repo"`
	Asset  string `toml:"asset"`
	Tag    string `toml:"tag"`
	SHA256 string `toml:"sha256"`
}

func originOf(api *url.URL, release github.Release) origin {
	return origin{API: api.String(), Repo: release.Repo, Asset: release.Name, Tag: release.Tag, SHA256: release.SHA256}
}

// serves tells whether the asset of the origin is the one wanted; of "latest", whether it was that once.
func (o origin) serves(api *url.URL, wanted github.Asset) bool {
	return o.API == api.String() && o.Repo == wanted.Repo && o.Asset == wanted.Name &&
		(wanted.Tag == github.Latest || o.Tag == wanted.Tag) &&
		wanted.Allows(o.SHA256)
}

// releases has assets from the GitHub of the build.
type releases struct {
	ctx     libcnb.BuildContext
	api     *url.URL
	token   github.Token
	mirrors github.Mirrors
	cache   libcnb.Layer
	answers *github.Answers
	logger  log.Logger
}

func newReleases(ctx libcnb.BuildContext, api *url.URL, logger log.Logger) (releases, error) {
	token, err := readToken(ctx.Platform.Bindings, api)
	if err != nil {
		return releases{}, err
	}
	// Mirrors come from libpak, so that they are what users of other buildpacks set.
	mirrors, err := libpak.NewDependencyCache(ctx.Buildpack.Info.ID, ctx.Buildpack.Info.Version, ctx.Buildpack.Path, ctx.Platform.Bindings, logger)
	if err != nil {
		return releases{}, fmt.Errorf("reading the dependency mirrors: %w", err)
	}
	cache, err := cacheLayer(ctx.Layers, "github-api")
	if err != nil {
		return releases{}, fmt.Errorf("opening the cache of GitHub's answers: %w", err)
	}
	return releases{ctx: ctx, api: api, token: token, mirrors: mirrors.DependencyMirrors, cache: cache,
		answers: github.OpenAnswers(filepath.Join(cache.Path, "answers.json")), logger: logger}, nil
}

// close returns the cache layer with what the API answered, for the next build, if there is any.
func (r releases) close() ([]libcnb.Layer, error) {
	if r.answers == nil {
		return nil, nil
	}
	if any, err := r.answers.Save(); err != nil || !any {
		return nil, err
	}
	return []libcnb.Layer{r.cache}, nil
}

// client returns a client for the token of one repository, or for the build's.
func (r releases) client(tokenEnv, repo string) (*github.Client, error) {
	token := r.token
	if tokenEnv != "" {
		own, err := tokenOf(tokenEnv, repo)
		if err != nil {
			return nil, err
		}
		token = own
	}
	info := r.ctx.Buildpack.Info
	return github.New(github.Config{API: r.api, Token: token, UserAgent: info.ID + "/" + info.Version, Mirrors: r.mirrors,
		Answers: r.answers, Logf: r.logger.Bodyf})
}

// fill puts the target into the name of an asset.
func (r releases) fill(asset github.Asset) github.Asset {
	target := r.ctx.TargetInfo
	asset.Name = strings.NewReplacer("{os}", target.OS, "{arch}", target.Arch).Replace(asset.Name)
	return asset
}

// resolve is github.Client's.
func resolve(client *github.Client, asset github.Asset) (github.Release, error) {
	return client.Resolve(context.Background(), asset)
}

// readMetadata reads a layer's metadata of the build before; what is of another kind or format reads as nothing.
func readMetadata[M any](layer libcnb.Layer) M {
	var metadata keptMetadata[M]
	text, err := toml.Marshal(layer.Metadata)
	if err != nil || toml.Unmarshal(text, &metadata) != nil || metadata.Format != layerFormat {
		var none M
		return none
	}
	return metadata.Content
}

// hasSBOM tells whether a layer's SBOM is there, as it is where the platform restored the layer.
func hasSBOM(layer libcnb.Layer) bool {
	for _, format := range []libcnb.SBOMFormat{libcnb.CycloneDXJSON, libcnb.SPDXJSON, libcnb.SyftJSON} {
		if _, err := os.Stat(layer.SBOMPath(format)); err != nil {
			return false
		}
	}
	return true
}
