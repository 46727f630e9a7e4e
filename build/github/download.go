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

// Download downloads the resolved asset of a request into file, and verifies the digest. After an error there is no
// file. Hints in messages name the settings of the request. A download that GitHub refuses may be from a private
// repository: with a token, Download then asks the API, unless the API has resolved the asset already.
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

// mayBePrivate reports whether a failed request may succeed with the token: GitHub answers 404 for private files,
// a GitHub Enterprise may answer with its login page.
func (c *Client) mayBePrivate(asset ResolvedAsset, err error) bool {
	if _, mirrored, _ := c.address(asset); mirrored || c.host.Token.Value == "" || c.ids[asset] != 0 {
		return false
	}
	status, refused := errors.AsType[statusError](err)
	_, page := errors.AsType[pageError](err)
	return page || refused && status.code < 500 && status.code != http.StatusTooManyRequests
}

// fetch downloads the asset, bounded by most bytes, and returns the digest. A download that breaks off is tried again.
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
	// The digest is of the bytes in the release, so the transfer must not compress the bytes.
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
			return "", err // the error tells a rate limit from other refusals
		}
	}
	return "", statusError{response.StatusCode, hostOf(response), mirrored}
}

// address returns the address of the asset, and whether the address is a mirror's. With a token the address is the
// API's endpoint for the asset, which private repositories need, else the address for browsers.
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

// hostOf names the answering host.
func hostOf(response *http.Response) string {
	return cmp.Or(response.Request.URL.Hostname(), "the mirror's folder")
}

// save writes the body of an answer to file, and returns the digest. The caller handles answers without 200 OK. A web
// page is an error, unless the digest shows that the asset is a web page.
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

// disk writes to a file. Errors of the disk are not the network's: a retry does not help.
type disk struct{ file *os.File }

func (d disk) Write(p []byte) (int, error) {
	n, err := d.file.Write(p)
	if err != nil {
		err = permanentError{fmt.Errorf("writing what was downloaded: %w", err)}
	}
	return n, err
}

const (
	// progressFrom is the smallest size, in bytes, of a download for the log.
	progressFrom = 4 << 20
	// startSize is the number of bytes that reveal a web page.
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
