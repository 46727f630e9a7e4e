package github

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"

	"github.com/google/go-github/v90/github"
	"github.com/hashicorp/go-retryablehttp"
)

// Download writes the release's asset to file and verifies it. With an error there is no such file. A release that the
// API was not asked for and that is not there for all may be a private repository's: with a token the API is asked then.
func (c *Client) Download(ctx context.Context, release Release, file string) error {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	digest, err := c.fetch(ctx, release, file, maxAsset)
	if c.mayBePrivate(release, err) {
		if release, err = c.ask(ctx, release.Asset); err != nil {
			os.Remove(file)
			return err
		}
		digest, err = c.fetch(ctx, release, file, maxAsset)
	}
	switch {
	case err != nil:
		err = c.explain(err, release.Asset)
	case digest != release.SHA256:
		err = fmt.Errorf("it has the SHA-256 %s, it should have %s (if its makers changed it, set %s)", digest, release.SHA256, release.SHA256Setting)
	default:
		return nil
	}
	os.Remove(file)
	return fmt.Errorf("downloading %s: %w", release.Asset, err)
}

// mayBePrivate tells whether a token may open what was refused: GitHub hides private files (404), a GitHub Enterprise may
// send all to its login, a web page.
func (c *Client) mayBePrivate(release Release, err error) bool {
	if _, mirrored, _ := c.address(release); mirrored || c.Token.Value == "" || release.id != 0 {
		return false
	}
	status, refused := errors.AsType[statusError](err)
	_, page := errors.AsType[pageError](err)
	return page || refused && status.code < 500 && status.code != http.StatusTooManyRequests
}

// fetch writes the asset to file and returns its digest. A try that breaks off is followed by another.
func (c *Client) fetch(ctx context.Context, release Release, file string, most int64) (string, error) {
	address, mirrored, err := c.address(release)
	if err != nil {
		return "", permanentError{err}
	}
	request, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Accept", contentTypeOfAnAsset)
	// The digest is of the bytes as they are: no compression on the way.
	request.Header.Set("Accept-Encoding", "identity")
	var digest string
	request.SetResponseHandler(func(response *http.Response) (err error) {
		digest, err = c.save(response, release.Name, file, most)
		return err
	})
	response, err := c.retry.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		return digest, nil
	}
	if isAPI(c.API, response.Request) {
		if err := github.CheckResponse(response); err != nil {
			return "", err // which says more than a status: rate limits
		}
	}
	return "", statusError{response.StatusCode, hostOf(response), mirrored}
}

// address is where the asset's bytes are, and whether that is a mirror: with a token the API's endpoint, which private
// repositories need, else what browsers use.
func (c *Client) address(release Release) (*url.URL, bool, error) {
	address, mirrored, err := c.Mirrors.rewrite(c.public(release))
	if err == nil && !mirrored && c.Token.Value != "" && release.id != 0 {
		address = c.API.JoinPath("repos", release.Repo, "releases", "assets", fmt.Sprint(release.id))
	}
	return address, mirrored, err
}

// Address returns where browsers download the asset, whatever mirror it came through.
func (c *Client) Address(release Release) string { return c.public(release).String() }

func (c *Client) public(release Release) *url.URL {
	return c.Web().JoinPath(release.Repo, "releases", "download", url.PathEscape(release.Tag), url.PathEscape(release.Name))
}

// hostOf names who answered.
func hostOf(response *http.Response) string {
	return cmp.Or(response.Request.URL.Hostname(), "the mirror's folder")
}

// save writes the body to file.
func (c *Client) save(response *http.Response, name, file string, most int64) (string, error) {
	if response.StatusCode != http.StatusOK {
		return "", nil
	}
	defer response.Body.Close()
	host := hostOf(response)
	if response.ContentLength > most {
		return "", permanentError{tooLarge(host, most)}
	}
	if response.ContentLength > progressFrom {
		c.Logf("Downloading %s, %d MiB, from %s", name, response.ContentLength>>20, host)
	}
	body := bufio.NewReader(response.Body)
	if start, _ := body.Peek(startSize); isPage(response.Header, start) {
		return "", permanentError{pageError{host}}
	}
	out, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return "", permanentError{err}
	}
	defer out.Close()
	digest := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, digest), io.LimitReader(body, most+1))
	switch {
	case err != nil:
		return "", err
	case n > most:
		return "", permanentError{tooLarge(host, most)}
	}
	if err := out.Close(); err != nil {
		return "", permanentError{err}
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}

const (
	// progressFrom is the size from which a download is worth a line, in bytes.
	progressFrom = 4 << 20
	// startSize is what a web page is told by, in bytes.
	startSize = 64
)

func tooLarge(host string, most int64) error {
	return fmt.Errorf("the file from %s is larger than %d MiB, more than is allowed", host, most>>20)
}

// isPage tells a web page from an asset: proxies and logins send them with status 200. GitHub never gives an asset as HTML.
func isPage(header http.Header, start []byte) bool {
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	start = bytes.ToLower(bytes.TrimSpace(start))
	return kind == "text/html" && (bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html")))
}
