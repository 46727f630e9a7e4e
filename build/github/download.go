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
	"strconv"

	"github.com/google/go-github/v90/github"
	"github.com/hashicorp/go-retryablehttp"
)

// Download downloads the asset that a request was resolved to, and verifies it. After an error there is no such file.
// The request is for hints in messages. An asset that the API was not asked about, and that is not public, may be in a
// private repository: the API is asked then, if there is a token.
func (c *Client) Download(ctx context.Context, request Request, asset ResolvedAsset, file string) error {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	digest, err := c.fetch(ctx, asset, file, maxAsset)
	if c.mayBePrivate(asset, err) {
		if asset, err = c.ask(ctx, request); err != nil {
			os.Remove(file)
			return err
		}
		digest, err = c.fetch(ctx, asset, file, maxAsset)
	}
	switch {
	case err != nil:
		err = c.explain(err, request)
	case digest != asset.SHA256:
		err = fmt.Errorf("it has the SHA-256 %s, it should have %s (if its makers changed it, set %s)",
			digest, asset.SHA256, request.SHA256Setting)
	default:
		return nil
	}
	os.Remove(file)
	return fmt.Errorf("downloading %s: %w", asset, err)
}

// mayBePrivate reports whether a request that failed may succeed with the token: GitHub answers 404 for private files,
// a GitHub Enterprise may answer with its login page.
func (c *Client) mayBePrivate(asset ResolvedAsset, err error) bool {
	if _, mirrored, _ := c.address(asset); mirrored || c.host.Token.Value == "" || c.ids[asset] != 0 {
		return false
	}
	status, refused := errors.AsType[statusError](err)
	_, page := errors.AsType[pageError](err)
	return page || refused && status.code < 500 && status.code != http.StatusTooManyRequests
}

// fetch downloads the asset, of no more bytes than most, and returns its digest. It tries again if a download breaks
// off.
func (c *Client) fetch(ctx context.Context, asset ResolvedAsset, file string, most int64) (string, error) {
	address, mirrored, err := c.address(asset)
	if err != nil {
		return "", permanentError{err}
	}
	request, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Accept", assetMediaType)
	// The digest is that of the bytes in the release, so they must not be compressed on the way.
	request.Header.Set("Accept-Encoding", "identity")
	var digest string
	request.SetResponseHandler(func(response *http.Response) (err error) {
		digest, err = c.save(response, asset, file, most)
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
	if isAPI(c.host.API, response.Request) {
		if err := github.CheckResponse(response); err != nil {
			return "", err // it tells a rate limit from other refusals
		}
	}
	return "", statusError{response.StatusCode, hostOf(response), mirrored}
}

// address returns where to download the asset from, and whether that is a mirror. With a token it is the API's endpoint
// for the asset, which private repositories need, else the address that browsers use.
func (c *Client) address(asset ResolvedAsset) (*url.URL, bool, error) {
	address, mirrored, err := c.host.Mirrors.rewrite(c.public(asset))
	if id := c.ids[asset]; err == nil && !mirrored && c.host.Token.Value != "" && id != 0 {
		address = c.host.API.JoinPath("repos", asset.Repo, "releases", "assets", strconv.FormatInt(id, 10))
	}
	return address, mirrored, err
}

func (c *Client) public(asset ResolvedAsset) *url.URL {
	return c.host.web().JoinPath(asset.Repo, "releases", "download", url.PathEscape(asset.Tag),
		url.PathEscape(asset.Asset))
}

// hostOf names the host that answered.
func hostOf(response *http.Response) string {
	return cmp.Or(response.Request.URL.Hostname(), "the mirror's folder")
}

// save writes the body of an answer to file, and returns its digest. Other answers than 200 OK are left for the caller.
// A web page is an error, unless the asset is one, by its digest.
func (c *Client) save(response *http.Response, asset ResolvedAsset, file string, most int64) (string, error) {
	if response.StatusCode != http.StatusOK {
		return "", nil
	}
	defer response.Body.Close()
	host := hostOf(response)
	if response.ContentLength > most {
		return "", permanentError{tooLarge(host, most)}
	}
	if response.ContentLength > progressFrom {
		c.host.Logf("Downloading %q, %d MiB, from %s", asset.Asset, response.ContentLength>>20, host)
	}
	body := bufio.NewReader(response.Body)
	start, _ := body.Peek(startSize)
	page := isPage(response.Header, start)
	if page && asset.SHA256 == "" {
		return "", permanentError{pageError{host}}
	}
	out, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return "", permanentError{err}
	}
	defer out.Close()
	digest := sha256.New()
	n, err := io.Copy(io.MultiWriter(disk{out}, digest), io.LimitReader(body, most+1))
	switch {
	case err != nil:
		return "", err
	case n > most:
		return "", permanentError{tooLarge(host, most)}
	}
	if err := out.Close(); err != nil {
		return "", permanentError{err}
	}
	sum := hex.EncodeToString(digest.Sum(nil))
	if page && sum != asset.SHA256 {
		return "", permanentError{pageError{host}}
	}
	return sum, nil
}

// disk writes to a file. Its errors are not the network's: trying again does not fix them.
type disk struct{ file *os.File }

func (d disk) Write(p []byte) (int, error) {
	n, err := d.file.Write(p)
	if err != nil {
		err = permanentError{fmt.Errorf("writing what was downloaded: %w", err)}
	}
	return n, err
}

const (
	// progressFrom is the size, in bytes, from which the log says that a file is downloaded.
	progressFrom = 4 << 20
	// startSize is how many bytes show whether an answer is a web page.
	startSize = 64
)

func tooLarge(host string, most int64) error {
	return fmt.Errorf("the file from %s is larger than %d MiB, more than is allowed", host, most>>20)
}

// isPage reports whether an answer with status 200 may be the web page of a proxy or a login. GitHub does not send
// assets as HTML, but mirrors do.
func isPage(header http.Header, start []byte) bool {
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	start = bytes.ToLower(bytes.TrimSpace(start))
	return kind == "text/html" && (bytes.HasPrefix(start, []byte("<!doctype html")) ||
		bytes.HasPrefix(start, []byte("<html")))
}
