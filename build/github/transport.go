package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// transport sends requests, and adds the token to requests for the API. Nothing else adds the token: a request
// redirected to another host passes through transport again, and gets no token.
type transport struct {
	base      http.RoundTripper
	api       *url.URL
	token     string
	userAgent string
}

func newTransport(host Host) transport {
	// The default transport has the proxies of the environment.
	base := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // its documented type
	base.ResponseHeaderTimeout = responseTimeout
	// Folders may be mirrors. checkRedirect lets no redirect lead to a folder.
	base.RegisterProtocol("file", http.NewFileTransport(http.Dir("/")))
	return transport{base: base, api: host.API, token: host.Token.Value, userAgent: host.UserAgent}
}

// RoundTrip sends a request.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(request.Context())
	request = request.Clone(ctx)
	request.Header.Set("User-Agent", t.userAgent)
	request.Header.Del("Referer")
	if t.token != "" && isAPI(t.api, request) {
		request.Header.Set("Authorization", "Bearer "+t.token)
	}
	response, err := t.base.RoundTrip(request)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	response.Body = timedBody{response.Body, request, cancel}
	if request.Header.Get("Accept") != assetMediaType {
		return readWhole(response)
	}
	return response, nil
}

// readWhole reads an answer of the API to its end. A break in the answer is then an error of the request, with a
// retry, and not an error of the JSON decoder.
func readWhole(response *http.Response) (*http.Response, error) {
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxAnswer {
		return nil, permanentError{errors.New("the answer is longer than 10 MiB")}
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return response, nil
}

// isAPI reports whether a request is for the API. On a GitHub Enterprise browsers use the same host.
func isAPI(api *url.URL, request *http.Request) bool {
	return request.URL.Scheme == api.Scheme && request.URL.Host == api.Host &&
		strings.HasPrefix(request.URL.Path, api.Path)
}

// brokenError says that an answer broke off. The wrapped error depends on the protocol: the errors of HTTP/2 have no
// exported type.
type brokenError struct{ error }

// Unwrap returns the cause of the break.
func (e brokenError) Unwrap() error { return e.error }

// timedBody fails if nothing arrives for responseTimeout. The whole may take longer. Errors name the host.
type timedBody struct {
	io.ReadCloser
	request *http.Request
	cancel  context.CancelCauseFunc
}

func (b timedBody) Read(p []byte) (int, error) {
	timer := time.AfterFunc(responseTimeout, func() { b.cancel(os.ErrDeadlineExceeded) })
	defer timer.Stop()
	n, err := b.ReadCloser.Read(p)
	// The cause comes first: when the client gives up, the answer can seem complete.
	if cause := context.Cause(b.request.Context()); cause != nil {
		err = cause
	}
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	return n, &url.Error{Op: "Get", URL: b.request.URL.String(), Err: brokenError{err}}
}

func (b timedBody) Close() error {
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}

// checkRedirect allows no more than maxRedirects, and none that leaves HTTPS.
func checkRedirect(request *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return permanentError{fmt.Errorf("%s redirects more than %d times", request.URL.Hostname(), maxRedirects)}
	}
	if request.URL.Scheme != "https" {
		return permanentError{fmt.Errorf("%s redirects to %s on %s, not to HTTPS",
			via[len(via)-1].URL.Hostname(), request.URL.Scheme, request.URL.Host)}
	}
	return nil
}

// shouldRetry is the library's policy without retries for causes that do not pass within seconds: rate limits, unknown
// host names and permanent errors.
func shouldRetry(ctx context.Context, response *http.Response, err error) (bool, error) {
	if response != nil && response.StatusCode == http.StatusTooManyRequests {
		return false, nil
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return false, nil
	}
	if _, ok := errors.AsType[permanentError](err); ok {
		return false, nil
	}
	return retryablehttp.DefaultRetryPolicy(ctx, response, err)
}

// backoff is the library's, but no server can ask for a longer pause than most.
func backoff(least, most time.Duration, attempt int, response *http.Response) time.Duration {
	return min(most, retryablehttp.DefaultBackoff(least, most, attempt, response))
}
