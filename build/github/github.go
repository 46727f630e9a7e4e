// Package github gets release assets from GitHub and verifies them: what is wanted goes in as an Asset, a verified file
// comes out.
//
//	Asset --Resolve--> Release (tag, digest, where the bytes are) --Download--> file
//
// Begin with New. A token goes to the API's host over HTTPS and nowhere else, whatever redirects say.
package github

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v90/github"
	"github.com/hashicorp/go-retryablehttp"
)

const (
	// DefaultAPI is the public GitHub's API.
	DefaultAPI = "https://api.github.com/"

	// maxTime bounds the work on one asset, retries and all.
	maxTime = 15 * time.Minute
	// maxRedirects is as many as browsers and net/http follow.
	maxRedirects = 10
	// retries and the pauses between them: 0.5 s, 1 s, 2 s.
	retries              = 3
	minPause, maxPause   = 500 * time.Millisecond, 20 * time.Second
	responseTimeout      = 60 * time.Second // without a byte
	maxAnswer            = 10 << 20
	maxAsset             = 512 << 20
	maxChecksums         = 1 << 20
	contentTypeOfAnAsset = "application/octet-stream"
)

// Token is a secret for the API, and where it was found. It prints as the latter.
type Token struct {
	From, Value string
}

// String returns where the token was found.
func (t Token) String() string { return t.From }

// GoString returns where the token was found.
func (t Token) GoString() string { return t.From }

// Check tells what is wrong with the token, without repeating it.
func (t Token) Check() error {
	for _, r := range t.Value {
		if r <= ' ' || r > '~' {
			return fmt.Errorf("reading the GitHub token from %s: it has characters that no token has, such as a space or a line break", t.From)
		}
	}
	return nil
}

// Config says which GitHub to ask, and how.
type Config struct {
	// API is the address of the API: DefaultAPI, or that of a GitHub Enterprise. It is for ParseAPI to make.
	API *url.URL
	// Token may be empty: then only what is public can be had.
	Token Token
	// UserAgent is the User-Agent header, which GitHub demands.
	UserAgent string
	// Mirrors are the places to download from instead of a host.
	Mirrors Mirrors
	// Answers are what the API is not asked for twice.
	Answers *Answers
	// Logf takes a line of progress.
	Logf func(format string, args ...any)
}

// Client gets release assets from one GitHub.
type Client struct {
	Config
	api   *github.Client
	retry *retryablehttp.Client
}

// ParseAPI reads the address of a GitHub's API. That of a GitHub Enterprise Server may leave out /api/v3/.
func ParseAPI(address string) (*url.URL, error) {
	api, err := url.Parse(address)
	switch {
	case err != nil || api.Host == "" || api.RawQuery != "" || api.Fragment != "":
		return nil, errors.New("it is no address such as https://github.example.com/api/v3")
	case api.User != nil:
		return nil, errors.New("it holds a user or a password, which belong into a token")
	case api.Scheme != "https":
		return nil, fmt.Errorf("%q is not allowed: use https, since a token may be sent there", api.Scheme)
	}
	api.Path = strings.TrimRight(api.Path, "/")
	if !strings.HasPrefix(api.Host, "api.") && !strings.HasSuffix(api.Path, enterprisePath) {
		api.Path += enterprisePath
	}
	api.Path += "/"
	return api, nil
}

// enterprisePath is where the API of a GitHub Enterprise Server is.
const enterprisePath = "/api/v3"

// New returns a client.
func New(config Config) (*Client, error) {
	if err := config.Token.Check(); err != nil {
		return nil, err
	}
	c := &Client{Config: config, retry: retryablehttp.NewClient()}
	c.retry.Logger = nil
	c.retry.RetryMax, c.retry.RetryWaitMin, c.retry.RetryWaitMax = retries, minPause, maxPause
	c.retry.Backoff, c.retry.CheckRetry = pause, worthRetrying
	c.retry.ErrorHandler = retryablehttp.PassthroughErrorHandler
	asking := conditional{newTransport(config), config.Answers, config.Logf}
	c.retry.HTTPClient = &http.Client{Transport: asking, CheckRedirect: checkRedirect}

	api := config.API.String()
	client, err := github.NewClient(github.WithHTTPClient(c.retry.StandardClient()), github.WithURLs(&api, nil),
		github.WithUserAgent(config.UserAgent), github.WithDisableRateLimitCheck())
	if err != nil {
		return nil, fmt.Errorf("using the GitHub API at %q: %w", api, err)
	}
	c.api = client
	return c, nil
}

// Web returns the address of the GitHub for browsers, where public assets can be downloaded without the API.
func (c *Client) Web() *url.URL {
	web := *c.API
	web.Host = strings.TrimPrefix(web.Host, "api.")
	web.Path = strings.TrimSuffix(strings.TrimSuffix(web.Path, "/"), enterprisePath) + "/"
	return &web
}
