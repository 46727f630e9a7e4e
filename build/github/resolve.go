package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/go-github/v90/github"
)

// Resolve finds the requested file and the required digest: from the request, else from the buildpack's pins, else from
// the release. A request with a tag and a digest needs no question to the API.
func (c *Client) Resolve(ctx context.Context, request Request) (ResolvedAsset, error) {
	if err := request.Check(); err != nil {
		return ResolvedAsset{}, err
	}
	if request = c.host.Pinned(request); request.Tag != Latest && request.SHA256 != "" {
		return c.resolved(request), nil
	}
	return c.ask(ctx, request)
}

// resolved returns the file of a complete request, except perhaps for the digest.
func (c *Client) resolved(request Request) ResolvedAsset {
	return ResolvedAsset{
		API: c.host.API.String(), Repo: request.Repo, Asset: request.Asset, Tag: request.Tag,
		SHA256: hexOf(request.SHA256), SHA256From: request.digestFrom(),
	}
}

// ask finds the file through the API.
func (c *Client) ask(ctx context.Context, request Request) (ResolvedAsset, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	release, err := c.release(ctx, request)
	if err != nil {
		return ResolvedAsset{}, fmt.Errorf("finding %s: %w", request, c.explain(err, request))
	}
	if release.GetTagName() == "" {
		return ResolvedAsset{}, fmt.Errorf("finding %s: %s answers with something other than a release", request,
			c.host.API.Host)
	}
	if tag := release.GetTagName(); request.Tag != Latest && tag != request.Tag {
		return ResolvedAsset{}, fmt.Errorf("finding %s: %s answers with the release %q, which was not asked for",
			request, c.host.API.Host, tag)
	}
	request.Tag = release.GetTagName()
	if err := request.Check(); err != nil {
		return ResolvedAsset{}, fmt.Errorf("reading what the API at %s says: %w", c.host.API.Host, err)
	}
	request = c.host.Pinned(request)
	i := slices.IndexFunc(release.Assets, func(a *github.ReleaseAsset) bool { return a.GetName() == request.Asset })
	if i < 0 {
		return ResolvedAsset{}, fmt.Errorf("finding %s: the release has no such asset: it has %s",
			request, list(names(release)))
	}
	asset := c.resolved(request)
	asset.Immutable = release.GetImmutable()
	if asset.SHA256 == "" {
		asset.SHA256, asset.SHA256From, err = c.digest(ctx, request, release.Assets[i], release)
		if err != nil {
			return ResolvedAsset{}, err
		}
	}
	c.ids[asset] = release.Assets[i].GetID()
	return asset, nil
}

func (c *Client) release(ctx context.Context, request Request) (*github.RepositoryRelease, error) {
	owner, name, _ := strings.Cut(request.Repo, "/")
	if request.Tag == Latest {
		release, _, err := c.api.Repositories.GetLatestRelease(ctx, owner, name)
		return release, err
	}
	// go-github does not escape the tag.
	release, _, err := c.api.Repositories.GetReleaseByTag(ctx, owner, name, url.PathEscape(request.Tag))
	return release, err
}

// digest returns the release's SHA-256 of the file, from GitHub, else from a checksums file, and the digest's source.
func (c *Client) digest(
	ctx context.Context, request Request, asset *github.ReleaseAsset, release *github.RepositoryRelease,
) (digest, from string, err error) {
	if digest, ok := strings.CutPrefix(asset.GetDigest(), "sha256:"); ok && isSHA256(digest) {
		return strings.ToLower(digest), "the digest that GitHub states", nil
	}
	unverified := fmt.Errorf("checking %s: the release gives no SHA-256 for it, neither a digest nor a checksums "+
		"file (set %s)",
		request, request.SHA256Setting)
	file := checksumsFor(request.Asset, names(release))
	if file == "" {
		return "", "", unverified
	}
	i := slices.IndexFunc(release.Assets, func(a *github.ReleaseAsset) bool { return a.GetName() == file })
	sums := c.resolved(Request{Repo: request.Repo, Asset: file, Tag: request.Tag})
	c.ids[sums] = release.Assets[i].GetID()
	text, err := c.readUnverified(ctx, sums)
	if err != nil {
		return "", "", err
	}
	digest = findChecksum(text, request.Asset, strings.HasPrefix(file, request.Asset))
	if digest == "" {
		return "", "", unverified
	}
	return digest, fmt.Sprintf("the release's file %q", file), nil
}

// readUnverified returns the text of a small file.
func (c *Client) readUnverified(ctx context.Context, asset ResolvedAsset) (string, error) {
	dir, err := os.MkdirTemp("", "checksums")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "text")
	if _, err := c.fetch(ctx, asset, file, maxChecksums); err != nil {
		return "", fmt.Errorf("downloading %s: %w", asset, c.explain(err, Request{Repo: asset.Repo}))
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

// list writes names for a message, and counts the names after the first twenty.
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
		text = strconv.Quote(text) // a control character in the log could move a terminal's cursor
	}
	return text + rest
}

// IsUnavailable reports whether GitHub cannot be asked now (no connection, a rate limit, a fault of GitHub), so the
// same request may succeed later.
func IsUnavailable(err error) bool {
	_, unavailable := errors.AsType[unavailableError](err)
	return unavailable
}
