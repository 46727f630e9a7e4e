package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/go-github/v90/github"
)

// Latest is the tag that stands for the newest release.
const Latest = "latest"

// Asset is one file of a release, as a user names it.
type Asset struct {
	// Repo is owner/name, Name the file, Tag the release's tag or Latest.
	Repo, Name, Tag string
	// SHA256 is the digest that the file must have, in hex, perhaps after "sha256:" as GitHub writes it, or "" to take what
	// the release says.
	SHA256 string
	// SHA256Setting and TagSetting name the settings to change, for messages.
	SHA256Setting, TagSetting string
}

// String names the asset for messages.
func (a Asset) String() string {
	return fmt.Sprintf("%q of release %q of %s", a.Name, a.Tag, a.Repo)
}

var (
	repoName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9._-]+$`)
	assetName = regexp.MustCompile(`^[^/\\\x00-\x20\x7f]+$`)
	tagName   = regexp.MustCompile(`^[^\\\x00-\x20\x7f]+$`)
)

// Check tells what is wrong with the names, before any of them gets into an address.
func (a Asset) Check() error {
	switch _, name, _ := strings.Cut(a.Repo, "/"); {
	case !repoName.MatchString(a.Repo) || isDots(name):
		return fmt.Errorf("reading the repository %q: it must be owner/name", a.Repo)
	case !assetName.MatchString(a.Name) || isDots(a.Name):
		return fmt.Errorf("reading the asset %q of %s: it must be the name of a file", a.Name, a.Repo)
	case !tagName.MatchString(a.Tag) || slices.ContainsFunc(strings.Split(a.Tag, "/"), isDots):
		return fmt.Errorf("reading the tag %q of %s: it must be the tag of a release, or %s", a.Tag, a.Repo, Latest)
	case a.SHA256 != "" && !isSHA256(hexOf(a.SHA256)):
		return fmt.Errorf("reading %s: %q is no SHA-256 in hex", a.SHA256Setting, a.SHA256)
	}
	return nil
}

// Allows tells whether the file may have a digest, in lower-case hex.
func (a Asset) Allows(digest string) bool { return a.SHA256 == "" || hexOf(a.SHA256) == digest }

// hexOf returns a SHA-256 as this package writes it.
func hexOf(digest string) string { return strings.TrimPrefix(strings.ToLower(digest), "sha256:") }

func isDots(part string) bool { return part == "" || part == "." || part == ".." }

// Release is an asset that was found: its tag is one that exists, and its digest is known.
type Release struct {
	Asset
	// id is the asset's in the API, 0 where the API was not asked.
	id int64
}

// Resolve finds the asset and the digest that it must have. It asks the API only where the asset does not say it all: not
// for a tag with a digest.
func (c *Client) Resolve(ctx context.Context, asset Asset) (Release, error) {
	if err := asset.Check(); err != nil {
		return Release{}, err
	}
	asset.SHA256 = hexOf(asset.SHA256)
	if asset.Tag != Latest && asset.SHA256 != "" {
		return Release{Asset: asset}, nil
	}
	return c.ask(ctx, asset)
}

// ask finds the asset through the API.
func (c *Client) ask(ctx context.Context, asset Asset) (Release, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	found, err := c.release(ctx, asset)
	if err != nil {
		return Release{}, fmt.Errorf("finding %s: %w", asset, c.explain(err, asset))
	}
	asset.Tag = found.GetTagName()
	if err := asset.Check(); err != nil {
		return Release{}, fmt.Errorf("reading what the API at %s says: %w", c.API.Host, err)
	}
	i := slices.IndexFunc(found.Assets, func(a *github.ReleaseAsset) bool { return a.GetName() == asset.Name })
	if i < 0 {
		return Release{}, fmt.Errorf("finding %s: the release has no such asset: it has %s", asset, list(names(found)))
	}
	release := Release{Asset: asset, id: found.Assets[i].GetID()}
	if release.SHA256 == "" {
		release.SHA256, err = c.digest(ctx, release, found.Assets[i], found)
	}
	return release, err
}

func (c *Client) release(ctx context.Context, asset Asset) (*github.RepositoryRelease, error) {
	owner, name, _ := strings.Cut(asset.Repo, "/")
	if asset.Tag == Latest {
		release, _, err := c.api.Repositories.GetLatestRelease(ctx, owner, name)
		return release, err
	}
	// go-github does not escape the tag.
	release, _, err := c.api.Repositories.GetReleaseByTag(ctx, owner, name, url.PathEscape(asset.Tag))
	return release, err
}

// digest returns the SHA-256 that the release gives for the asset: GitHub's own, else that of a checksums file.
func (c *Client) digest(ctx context.Context, wanted Release, asset *github.ReleaseAsset, release *github.RepositoryRelease) (string, error) {
	if digest, ok := strings.CutPrefix(asset.GetDigest(), "sha256:"); ok && isSHA256(digest) {
		return strings.ToLower(digest), nil
	}
	unverified := fmt.Errorf("checking %s: the release gives no SHA-256 for it, neither a digest nor a checksums file (set %s)",
		wanted.Asset, wanted.SHA256Setting)
	file := checksumsFor(wanted.Name, names(release))
	if file == "" {
		return "", unverified
	}
	i := slices.IndexFunc(release.Assets, func(a *github.ReleaseAsset) bool { return a.GetName() == file })
	sums := Release{Asset: Asset{Repo: wanted.Repo, Name: file, Tag: wanted.Tag}, id: release.Assets[i].GetID()}
	text, err := c.read(ctx, sums)
	if err != nil {
		return "", err
	}
	digest := findChecksum(text, wanted.Name, strings.HasPrefix(file, wanted.Name))
	if digest == "" {
		return "", unverified
	}
	return digest, nil
}

// read returns a small asset, unverified.
func (c *Client) read(ctx context.Context, release Release) (string, error) {
	dir, err := os.MkdirTemp("", "checksums")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "text")
	if _, err := c.fetch(ctx, release, file, maxChecksums); err != nil {
		return "", fmt.Errorf("downloading %s: %w", release.Asset, c.explain(err, release.Asset))
	}
	text, err := os.ReadFile(file)
	return string(text), err
}

func names(release *github.RepositoryRelease) []string {
	var names []string
	for _, asset := range release.Assets {
		names = append(names, asset.GetName())
	}
	return names
}

// list writes names for a message, not all where there are many.
func list(names []string) string {
	const most = 20
	if len(names) == 0 {
		return "none"
	}
	rest := ""
	if len(names) > most {
		names, rest = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	text := strings.Join(names, ", ")
	if strings.ContainsFunc(text, unicode.IsControl) {
		text = strconv.Quote(text) // the log is no place for what moves a terminal's cursor
	}
	return text + rest
}

// IsUnavailable tells an error of a GitHub that cannot be asked now (no connection, a rate limit, a fault of its own) from
// one that asking again would not mend.
func IsUnavailable(err error) bool {
	_, unavailable := errors.AsType[unavailableError](err)
	return unavailable
}
