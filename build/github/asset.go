package github

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/buildpacks/libcnb/v2"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Latest is the tag for the newest release.
const Latest = "latest"

// Request is a user's request for a file of a release.
type Request struct {
	// Repo is the repository, owner/name.
	Repo string `toml:"repo"`
	// Asset is the name of the file.
	Asset string `toml:"asset"`
	// Tag is the release's tag, or Latest.
	Tag string `toml:"tag"`
	// SHA256 is the file's required digest, in hex, with or without GitHub's prefix "sha256:", or "" if the release
	// states the digest.
	SHA256 string `toml:"sha256"`
	// TagSetting and SHA256Setting name the user's settings for messages.
	TagSetting    string `toml:"-"`
	SHA256Setting string `toml:"-"`

	pinned bool // SHA256 is from the buildpack, not from the user
}

// ResolvedAsset is an existing file of a release, with the required digest. The metadata of a layer records resolved
// assets, and tells the next build whether to ask GitHub.
type ResolvedAsset struct {
	// API is the address of the API of the release's GitHub.
	API string `toml:"api"`
	// Repo is the repository, owner/name.
	Repo string `toml:"repo"`
	// Asset is the name of the file.
	Asset string `toml:"asset"`
	// Tag is the release's tag.
	Tag string `toml:"tag"`
	// SHA256 is the digest of the file, in lower-case hex.
	SHA256 string `toml:"sha256"`
	// SHA256From is the digest's source, for users: a setting, the buildpack, the release or a file of the release.
	SHA256From string `toml:"sha256_from"`
	// Immutable reports that nobody can change the release (docs.github.com, Immutable releases); false if GitHub was
	// not asked.
	Immutable bool `toml:"immutable"`
}

// Same reports whether two descriptions are of the same file with the same content.
func (a ResolvedAsset) Same(other ResolvedAsset) bool {
	return a.isNamed(other) && a.SHA256 == other.SHA256
}

func (a ResolvedAsset) isNamed(other ResolvedAsset) bool {
	return a.API == other.API && a.Repo == other.Repo && a.Asset == other.Asset && a.Tag == other.Tag
}

// Verified says for the log by which digest the file was verified. Setting is the user's text before a pinned digest.
func (a ResolvedAsset) Verified(setting string) string {
	from := a.SHA256From
	if a.Immutable {
		from += " (the release is immutable)"
	}
	return fmt.Sprintf("Verified %s by %s: %s%s", a, from, setting, a.SHA256)
}

// CheckUnchanged returns an error if the file's content differs from the file of the same name and release in the build
// before. A user who set the digest of the new content knows of the change.
func (a ResolvedAsset) CheckUnchanged(before ResolvedAsset, request Request) error {
	if !a.isNamed(before) || before.SHA256 == a.SHA256 || request.SHA256 != "" && !request.pinned {
		return nil
	}
	return fmt.Errorf("checking %s: its SHA-256 is %s, by %s, and was %s in the build before (a release should not "+
		"change: ask its makers, and if the new file is right, set %s to its digest)",
		a, a.SHA256, a.SHA256From, before.SHA256, request.SHA256Setting)
}

// String describes the file for messages.
func (r Request) String() string { return describe(r.Repo, r.Asset, r.Tag) }

// String describes the file for messages.
func (a ResolvedAsset) String() string { return describe(a.Repo, a.Asset, a.Tag) }

func describe(repo, asset, tag string) string {
	return fmt.Sprintf("%q of release %q of %s", asset, tag, repo)
}

// ForTarget returns the request with the target's operating system and architecture in place of {os} and {arch}.
func (r Request) ForTarget(target libcnb.TargetInfo) Request {
	r.Asset = strings.NewReplacer("{os}", target.OS, "{arch}", target.Arch).Replace(r.Asset)
	return r
}

// Satisfies reports whether the request, to the GitHub with the API, may resolve to the file. Every tag satisfies a
// request for Latest.
func (a ResolvedAsset) Satisfies(request Request, api *url.URL) bool {
	return a.API == api.String() && a.Repo == request.Repo && a.Asset == request.Asset &&
		(request.Tag == Latest || a.Tag == request.Tag) &&
		(request.SHA256 == "" || hexOf(request.SHA256) == a.SHA256)
}

var (
	repoName  = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9._-]+$`)
	tokenName = lazyregexp.New(`^(?:gh[a-z]_|github_pat_)\w{16,}`)
)

// Check returns an error unless the names and the digest are safe in an address and in a log.
func (r Request) Check() error {
	switch _, name, _ := strings.Cut(r.Repo, "/"); {
	case strings.ContainsAny(r.Repo, "@?=") || tokenName.MatchString(r.Repo):
		return errors.New("reading a repository: it seems to hold a token or a password: it must be owner/name")
	case !repoName.MatchString(r.Repo) || isDots(name):
		return fmt.Errorf("reading the repository %q: it must be owner/name", r.Repo)
	case !isName(r.Asset, `/\`) || isDots(r.Asset):
		return fmt.Errorf("reading the asset %q of %s: it must be the name of a file", r.Asset, r.Repo)
	case !isName(r.Tag, `\`) || slices.ContainsFunc(strings.Split(r.Tag, "/"), isDots):
		return fmt.Errorf("reading the tag %q of %s: it must be the tag of a release, or %s", r.Tag, r.Repo, Latest)
	case r.SHA256 != "" && !isSHA256(hexOf(r.SHA256)):
		return fmt.Errorf("reading %s: %q is not a SHA-256 in hex", r.SHA256Setting, r.SHA256)
	}
	return nil
}

// isName reports whether a text has only visible characters, and none of others.
func isName(text, others string) bool {
	return text != "" && utf8.ValidString(text) && !strings.ContainsAny(text, others) &&
		!strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsGraphic(c) || unicode.IsSpace(c) })
}

// hexOf returns a SHA-256 in the package's form.
func hexOf(digest string) string { return strings.TrimPrefix(strings.ToLower(digest), "sha256:") }

func isDots(part string) bool { return part == "" || part == "." || part == ".." }
