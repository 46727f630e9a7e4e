package github

import (
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

// transport adds to each request what is for its host alone. It is the only place that knows the token: a request that
// is redirected to another host comes by here again, and gets none.
type transport struct {
	base      http.RoundTripper
	api       *url.URL
	token     string
	userAgent string
}

func newTransport(config Config) transport {
	base := http.DefaultTransport.(*http.Transport).Clone() // with the proxies of the environment
	base.ResponseHeaderTimeout = responseTimeout
	base.RegisterProtocol("file", http.NewFileTransport(http.Dir("/"))) // for mirrors; no redirect leads there
	return transport{base: base, api: config.API, token: config.Token.Value, userAgent: config.UserAgent}
}

// RoundTrip is one request and its answer.
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
	response.Body = awaitedBody{response.Body, request, cancel}
	if request.Header.Get("Accept") != contentTypeOfAnAsset {
		response.Body = &boundedBody{ReadCloser: response.Body, left: maxAnswer}
	}
	return response, nil
}

// isAPI tells the API's requests. A GitHub Enterprise has the API on the host that browsers use.
func isAPI(api *url.URL, request *http.Request) bool {
	return request.URL.Scheme == api.Scheme && request.URL.Host == api.Host && strings.HasPrefix(request.URL.Path, api.Path)
}

// brokenError ends an answer that has begun. What it wraps differs by protocol, and of HTTP/2 has no type to tell it by.
type brokenError struct{ error }

// Unwrap returns what broke the answer off.
func (e brokenError) Unwrap() error { return e.error }

// awaitedBody fails where nothing arrives for responseTimeout, however long the whole may take. Its errors name the host.
type awaitedBody struct {
	io.ReadCloser
	request *http.Request
	cancel  context.CancelCauseFunc
}

func (b awaitedBody) Read(p []byte) (int, error) {
	timer := time.AfterFunc(responseTimeout, func() { b.cancel(os.ErrDeadlineExceeded) })
	defer timer.Stop()
	n, err := b.ReadCloser.Read(p)
	// The cause first: a server that is left may end the answer as if it were whole.
	if cause := context.Cause(b.request.Context()); cause != nil {
		err = cause
	}
	if err == nil || err == io.EOF {
		return n, err
	}
	return n, &url.Error{Op: "Get", URL: b.request.URL.String(), Err: brokenError{err}}
}

func (b awaitedBody) Close() error {
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}

// boundedBody fails where there is more to read than an answer may have.
type boundedBody struct {
	io.ReadCloser
	left int64
}

var errTooLong = permanentError{errors.New("the answer is longer than 10 MiB")}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLong
	}
	return n, err
}

// checkRedirect follows redirects, but not for ever and not out of HTTPS.
func checkRedirect(request *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return permanentError{fmt.Errorf("%s redirects more than %d times", request.URL.Hostname(), maxRedirects)}
	}
	if request.URL.Scheme != "https" {
		return permanentError{fmt.Errorf("%s redirects to %s on %s, not to HTTPS", via[len(via)-1].URL.Hostname(), request.URL.Scheme, request.URL.Host)}
	}
	return nil
}

// worthRetrying is the library's policy but for what does not pass within seconds: rate limits, names that do not exist,
// redirects that lead nowhere.
func worthRetrying(ctx context.Context, response *http.Response, err error) (bool, error) {
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

// pause is the library's, but no server can make it longer than maxPause.
func pause(least, most time.Duration, attempt int, response *http.Response) time.Duration {
	return min(most, retryablehttp.DefaultBackoff(least, most, attempt, response))
}
