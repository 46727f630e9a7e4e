// Package githubassets puts files of GitHub releases, other than the probe, into launch layers, as the buildpack
// github-assets-cnb does. Users ask for them in project.toml ([[metadata.githubassets]]) or by build variables.
//
//	project.toml, variables --Requirements--> plan entries --RequestsFromPlan--> Request --Contribute--> layers
//
// The build plan carries the requests from the detect phase to the build phase, since other buildpacks may remove
// project.toml in between. Begin with [Requirements] and [Contribute].
package githubassets

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/buildpacks/libcnb/v2"

	"github.com/grpc-cnb/health-probe/build/github"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

const (
	// entryName is the name of the build plan's entries, one for each request.
	entryName = "github-assets"
	// variablesLayer is the name of the layer for the asset of the build variables.
	variablesLayer = "github-assets"
)

// Request is an app's request for an asset, with the destination.
type Request struct {
	// In Asset {os} and {arch} stand for the target's. An empty Tag stands for the latest release.
	github.Request
	// TokenEnv is the environment variable with a token for the repository, "" for the token of the build.
	TokenEnv string `toml:"token_env"`
	// Destination is a path within the layer: the folder to unpack an archive into, or the name of a single file.
	Destination string `toml:"destination"`
	// StripComponents is the number of leading parts to remove from the names in an archive.
	StripComponents int `toml:"strip_components"`
	// Layer is the name of the layer. An app's file must not set the name.
	Layer string `toml:"layer"`
}

// ResolvedAsset is a found asset, with the destination. The metadata of a layer lists the layer's assets.
type ResolvedAsset struct {
	github.ResolvedAsset
	Destination string `toml:"destination"`
	// StripComponents is a number as text, because the lifecycle keeps metadata as JSON and returns numbers with a
	// decimal point.
	StripComponents string `toml:"strip_components"`
}

// same reports whether two assets have the same content and place.
func (a ResolvedAsset) same(other ResolvedAsset) bool {
	return a.Same(other.ResolvedAsset) && a.Destination == other.Destination &&
		a.StripComponents == other.StripComponents
}

var (
	// variableName is the form of the names of environment variables (POSIX, chapter 8).
	variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// tokenForm is the form of GitHub's tokens. Some are fit to be the name of a variable.
	tokenForm = lazyregexp.New(`^(gh[a-z]_\w{16,}|github_pat_\w{16,}|[0-9a-f]{40})$`)
)

// check returns the mistakes of a request before the build plan has the request. A misplaced token must not get into
// the plan or the log.
func (r *Request) check() error {
	if r.Repo == "" || r.Asset == "" {
		return fmt.Errorf("reading the GitHub assets: one has repo %q and asset %q: it needs both", r.Repo, r.Asset)
	}
	withTag := r.Request
	withTag.Tag, withTag.SHA256Setting = cmp.Or(r.Tag, github.Latest), "sha256"
	if err := withTag.Check(); err != nil {
		return err
	}
	switch about := fmt.Sprintf("reading the GitHub asset %q of %s", r.Asset, r.Repo); {
	case tokenForm.MatchString(r.TokenEnv):
		return fmt.Errorf("%s: token_env holds a token: it must be the name of an environment variable that does",
			about)
	case r.TokenEnv != "" && !variableName.MatchString(r.TokenEnv):
		return fmt.Errorf("%s: token_env holds something other than the name of an environment variable", about)
	case r.StripComponents < 0:
		return fmt.Errorf("%s: strip_components is %d: it must be 0 or more", about, r.StripComponents)
	case r.Destination != "" && !filepath.IsLocal(r.Destination):
		return fmt.Errorf("%s: the destination %q leads out of its layer: it must be a path below that", about,
			r.Destination)
	case strings.ContainsFunc(r.Destination, func(c rune) bool { return !unicode.IsPrint(c) }):
		return fmt.Errorf("%s: the destination %q has a character that cannot be printed", about, r.Destination)
	case r.Layer != variablesLayer && reservedName.MatchString(layerOf(r.Repo)):
		return fmt.Errorf("naming the layer %q: names with .sbom. in them, or .toml or .sha at their end, are taken",
			layerOf(r.Repo))
	}
	return nil
}

func layerOf(repo string) string { return strings.Replace(repo, "/", "_", 1) }

// reservedName matches the names of files that the lifecycle and buildpacks keep beside a layer. A layer of such a name
// would be mistaken for such a file, and removed.
var reservedName = lazyregexp.New(`\.sbom\.|\.(toml|sha)$`)

// forTarget returns the request for a target, or the request's mistakes.
func (r Request) forTarget(target libcnb.TargetInfo) (Request, error) {
	r.Request = r.Request.ForTarget(target)
	r.TagSetting, r.SHA256Setting = "tag", "sha256 of the entry in project.toml"
	if r.Layer == variablesLayer {
		r.TagSetting, r.SHA256Setting = "$"+versionEnv, "$"+sha256Env
	}
	if r.Tag == "" {
		r.Tag = github.Latest
	}
	return r, r.Request.Check()
}
