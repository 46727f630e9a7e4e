package github

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"
)

// DefaultAPI is the address of the public GitHub's API.
const DefaultAPI = "https://api.github.com/"

// enterprisePath is the path of the API on a GitHub Enterprise Server.
const enterprisePath = "/api/v3"

// Host is the GitHub for a build, with the settings of the requests.
type Host struct {
	// API is the address of the API, made by ParseAPI.
	API *url.URL
	// Token may be empty: then only public repositories can be read.
	Token Token
	// UserAgent is the User-Agent header, which GitHub demands.
	UserAgent string
	// Mirrors are the places to download from in place of a host.
	Mirrors Mirrors
	// Pins are the digests pinned by the buildpack.
	Pins []Pin
	// Logf writes a line of progress.
	Logf func(format string, args ...any)
}

// NewHost returns the GitHub with the API, with the build's token and mirrors. A wrong service binding is an error.
func NewHost(ctx libcnb.BuildContext, api *url.URL, logger log.Logger) (Host, error) {
	token, err := readToken(ctx.Platform.Bindings, api)
	if err != nil {
		return Host{}, err
	}
	// libpak reads the mirrors, for the same settings as in other buildpacks.
	pins, err := readPins(ctx.Buildpack.Metadata)
	if err != nil {
		return Host{}, err
	}
	info := ctx.Buildpack.Info
	mirrors, err := libpak.NewDependencyCache(info.ID, info.Version, ctx.Buildpack.Path, ctx.Platform.Bindings, logger)
	if err != nil {
		return Host{}, fmt.Errorf("reading the dependency mirrors: %w", err)
	}
	return Host{
		API: api, Token: token, UserAgent: info.ID + "/" + info.Version, Mirrors: mirrors.DependencyMirrors,
		Pins: pins, Logf: logger.Bodyf,
	}, nil
}

// WithTokenOf returns the host with the token in an environment variable, named by a user for a repository.
func (h Host) WithTokenOf(variable, repo string) (Host, error) {
	token, err := tokenOf(variable, repo)
	h.Token = token
	return h, err
}

// ParseAPI parses the address of a GitHub's API. The address of a GitHub Enterprise Server may leave /api/v3/ out, and
// the address of the public GitHub's pages stands for the API. Addresses of one API come out equal.
func ParseAPI(address string) (*url.URL, error) {
	api, err := url.Parse(address)
	switch {
	case err != nil || api.Host == "" || api.RawQuery != "" || api.Fragment != "":
		return nil, errors.New("it is not an address such as https://github.example.com/api/v3")
	case api.User != nil:
		return nil, errors.New("it holds a user or a password, which belong in a token")
	case api.Scheme != "https":
		return nil, fmt.Errorf("%q is not allowed: use https, since a token may be sent there", api.Scheme)
	}
	api.Host = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(api.Host), ":443"), ".")
	api.Path, api.RawPath = strings.TrimRight(api.Path, "/"), ""
	if api.Host == "github.com" || api.Host == "www.github.com" {
		return url.Parse(DefaultAPI)
	}
	if !strings.HasPrefix(api.Host, "api.") && !strings.HasSuffix(api.Path, enterprisePath) {
		api.Path += enterprisePath
	}
	api.Path += "/"
	return api, nil
}

// web returns the address of the GitHub for browsers, where public files can be downloaded without the API.
func (h Host) web() *url.URL {
	web := *h.API
	web.Host = strings.TrimPrefix(web.Host, "api.")
	web.Path = strings.TrimSuffix(strings.TrimSuffix(web.Path, "/"), enterprisePath) + "/"
	return &web
}
