package github

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A server may ask for a pause (Retry-After), but not for one that stops the build.
func TestServersCannotMakePausesLong(t *testing.T) {
	response := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"3600"}}}
	if got := backoff(minPause, maxPause, 0, response); got != maxPause {
		t.Errorf("it pauses for %v", got)
	}
}

func TestNetworkErrors(t *testing.T) {
	for want, cause := range map[string]error{
		"looking up the host api.github.com: it is not known": &net.DNSError{
			Name: "api.github.com", IsNotFound: true,
		},
		"looking up the host api.github.com: the name servers do not answer": &net.DNSError{
			Name: "api.github.com", IsTimeout: true,
		},
		"waiting for api.github.com: it took too long": &net.OpError{
			Op: "dial", Err: syscall.ETIMEDOUT,
		},
		"reading from api.github.com: it broke off, in each of 4 tries": &net.OpError{
			Op: "read", Err: syscall.ECONNRESET,
		},
		"connecting to api.github.com: dial: network is unreachable": &net.OpError{
			Op: "dial", Err: syscall.ENETUNREACH,
		},
	} {
		// As net/http wraps it, with an address whose query is a secret.
		err := explainNetwork(fmt.Errorf("wrapped: %w",
			&url.Error{Op: "Get", URL: "https://api.github.com/x?signature=secret", Err: cause}))
		if !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v, want %q", err, want)
		}
		if !IsUnavailable(err) {
			t.Errorf("%v is not taken for one that passes", err)
		}
	}
}

// An answer of the API that is no JSON, or breaks off within it, has arrived whole: it is not the network that failed.
func TestAnswersThatAreNoReleases(t *testing.T) {
	const noJSON = "api.github.com answers with a web page or other text, not with JSON (is there a proxy or a " +
		"login in between?)"
	for text, want := range map[string]string{
		`{"tag_name": "v1", "assets"`: noJSON,
		`[]`:                          noJSON,
		`"v1"`:                        noJSON,
		`not`:                         noJSON,
		`{}`:                          "api.github.com answers with something other than a release",
		`null`:                        "api.github.com answers with something other than a release",
		"":                            "api.github.com answers with something other than a release",
		`{"a":1}`:                     "api.github.com answers with something other than a release",
	} {
		answer := func(*http.Request) (*http.Response, error) {
			return &http.Response{
				StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(text)),
				Header: http.Header{},
			}, nil
		}
		for _, tag := range []string{"v1", Latest} {
			_, err := clientOf(t, answer).Resolve(context.Background(), Request{Repo: "a/b", Asset: "c", Tag: tag})
			message := fmt.Sprintf("finding %q of release %q of a/b: %s", "c", tag, want)
			if err == nil || err.Error() != message {
				t.Errorf("%s: the error is %v, want %s", text, err, message)
			}
		}
	}
}

// roundTripper answers requests without a network.
type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r(request)
	if response != nil {
		response.Request = request
	}
	return response, err
}

func clientOf(t *testing.T, answer roundTripper) *Client {
	t.Helper()
	api, err := ParseAPI(DefaultAPI)
	if err != nil {
		t.Fatal(err)
	}
	host := Host{API: api, Logf: t.Logf}
	client, err := New(host)
	if err != nil {
		t.Fatal(err)
	}
	client.retry.HTTPClient.Transport = transport{base: answer, api: api}
	return client
}

// A full disk is what it is, after one download: /dev/full is a file that nothing fits into.
func TestFullDisk(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.Symlink("/dev/full", file); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("there is no /dev/full")
	}
	downloads := 0
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		downloads++
		return &http.Response{
			StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("content")),
			Header: http.Header{},
		}, nil
	})
	asset := ResolvedAsset{Repo: "a/b", Asset: "c", Tag: "v1", SHA256: digest}
	err := client.Download(context.Background(), Request{}, asset, file)
	want := fmt.Sprintf(`downloading "c" of release "v1" of a/b: writing what was downloaded: write %s: `+
		"no space left on device", file)
	if err == nil || err.Error() != want || downloads != 1 || IsUnavailable(err) {
		t.Errorf("after %d downloads the error is %v, want %s", downloads, err, want)
	}
}

// An asset may be a web page: its digest says so.
func TestPagesThatAreAssets(t *testing.T) {
	const page = "<!DOCTYPE html><title>Documentation</title>"
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(page)),
			Header: http.Header{"Content-Type": {"text/html"}},
		}, nil
	})
	sum := sha256.Sum256([]byte(page))
	for digest, want := range map[string]bool{hex.EncodeToString(sum[:]): true, digest: false} {
		asset := ResolvedAsset{Repo: "a/b", Asset: "c.html", Tag: "v1", SHA256: digest}
		file := filepath.Join(t.TempDir(), "file")
		err := client.Download(context.Background(), Request{}, asset, file)
		if (err == nil) != want || err != nil && !strings.Contains(err.Error(), "answers with a web page") {
			t.Errorf("%s: %v", digest, err)
		}
	}
}

// A proxy that cannot be one is an error: net/http would go without it. Its address may hold a password.
func TestProxyOfTheEnvironment(t *testing.T) {
	for value, want := range map[string]bool{
		"": true, "http://proxy:3128": true, "proxy:3128": true, "proxy": true, "socks5://me:s3cret@proxy:1080": true,
		"http://[::1]:3128": true, "http://me:s3cret@proxy:port": false, "http://me:s3cret@": false,
		"ftp://proxy":        false,
		"http://proxy:99999": false, "ht!tp://proxy": false, "http:// proxy": false, "%": false,
	} {
		t.Setenv("HTTPS_PROXY", value)
		err := checkProxy()
		if (err == nil) != want || err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", value, err)
		}
	}
}
