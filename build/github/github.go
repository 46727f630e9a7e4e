// Package github downloads files of GitHub releases and verifies them: a [Request] goes in, a verified file comes out.
//
//	Request --Resolve--> ResolvedAsset (tag and digest) --Download--> file
//
// Begin with [NewHost], which has the token and the mirrors of a build, and [New]. Only the API's host gets the
// token, over HTTPS, wherever redirects lead.
package github

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v90/github"
	"github.com/hashicorp/go-retryablehttp"
	"github.com/package-url/packageurl-go"
)

const (
	// maxTime bounds the work on one file, with all retries.
	maxTime = 15 * time.Minute
	// maxRedirects is the bound of browsers and net/http.
	maxRedirects = 10
	// retries bounds the retries of a request. The pauses before are 0.5 s, 1 s and 2 s.
	retries            = 3
	minPause, maxPause = 500 * time.Millisecond, 20 * time.Second
	// responseTimeout bounds the time without a byte of an answer.
	responseTimeout = 60 * time.Second
	// maxAnswer, maxAsset and maxChecksums bound the API's answers, files and checksums files, in bytes.
	maxAnswer    = 10 << 20
	maxAsset     = 512 << 20
	maxChecksums = 1 << 20
	// assetMediaType has the API send a file's content.
	assetMediaType = "application/octet-stream"
)

// Client downloads files from one GitHub.
type Client struct {
	host  Host
	api   *github.Client
	retry *retryablehttp.Client
	// ids are the numbers of the files in the API's answers. With a token the files' content comes from the API.
	ids map[ResolvedAsset]int64
}

// New returns a client of the host, or an error for an invalid token or an invalid proxy in the environment.
func New(host Host) (*Client, error) {
	if err := host.Token.check(); err != nil {
		return nil, err
	}
	if err := checkProxy(); err != nil {
		return nil, err
	}
	c := &Client{host: host, retry: retryablehttp.NewClient(), ids: map[ResolvedAsset]int64{}}
	c.retry.Logger = nil
	c.retry.RetryMax, c.retry.RetryWaitMin, c.retry.RetryWaitMax = retries, minPause, maxPause
	c.retry.Backoff, c.retry.CheckRetry = backoff, shouldRetry
	c.retry.ErrorHandler = retryablehttp.PassthroughErrorHandler
	c.retry.HTTPClient = &http.Client{Transport: newTransport(host), CheckRedirect: checkRedirect}

	api := host.API.String()
	client, err := github.NewClient(github.WithHTTPClient(c.retry.StandardClient()), github.WithURLs(&api, nil),
		github.WithUserAgent(host.UserAgent), github.WithDisableRateLimitCheck())
	if err != nil {
		return nil, fmt.Errorf("using the GitHub API at %q: %w", api, err)
	}
	c.api = client
	return c, nil
}

// Address returns the address where browsers download a file, even if the client downloads it from a mirror.
func (c *Client) Address(asset ResolvedAsset) string { return c.public(asset).String() }

// PURL returns the package URL of a file's release (purl-spec, type github, which has no capital letters).
func (c *Client) PURL(asset ResolvedAsset) string {
	owner, name, _ := strings.Cut(strings.ToLower(asset.Repo), "/")
	var qualifiers packageurl.Qualifiers
	if web := c.host.web(); web.Host != "github.com" {
		address := &url.URL{Scheme: web.Scheme, Host: web.Host}
		qualifiers = packageurl.QualifiersFromMap(map[string]string{"repository_url": address.String()})
	}
	return packageurl.NewPackageURL(packageurl.TypeGithub, owner, name, asset.Tag, qualifiers, "").ToString()
}
