package github

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/google/go-github/v90/github"

	"github.com/grpc-cnb/health-probe/internal/config"
)

// permanentError is an error that a new try cannot fix.
type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

// unavailableError means that GitHub cannot be asked now.
type unavailableError struct{ error }

// statusError is an answer of GitHub or of a mirror with a status other than 200 OK.
type statusError struct {
	code   int
	host   string
	mirror bool
}

func (e statusError) Error() string {
	return fmt.Sprintf("%s answers %d %s", e.host, e.code, http.StatusText(e.code))
}

// pageError is a web page from a host in place of the file.
type pageError struct{ host string }

func (e pageError) Error() string {
	return e.host + " answers with a web page in place of the file (is there a proxy or a login in between?)"
}

// explain returns an error of the API or of a download with its meaning, and advice.
func (c *Client) explain(err error, request Request) error {
	if limit, ok := errors.AsType[*github.RateLimitError](err); ok {
		return unavailableError{fmt.Errorf("the rate limit of %d requests an hour to %s is used up until %s (%s)",
			limit.Rate.Limit, c.host.API.Host, limit.Rate.Reset.UTC().Format(time.DateTime+" UTC"),
			c.limitHint(request))}
	}
	if limit, ok := errors.AsType[*github.AbuseRateLimitError](err); ok {
		span := ""
		if pause := limit.GetRetryAfter(); pause > 0 {
			span = " for " + pause.String()
		}
		return unavailableError{fmt.Errorf("%s asks for fewer requests%s (%s)",
			c.host.API.Host, span, c.limitHint(request))}
	}
	if answer, ok := errors.AsType[*github.ErrorResponse](err); ok {
		return c.explainStatus(statusError{code: answer.Response.StatusCode, host: c.host.API.Host}, request)
	}
	if status, ok := errors.AsType[statusError](err); ok {
		return c.explainStatus(status, request)
	}
	if page, ok := errors.AsType[pageError](err); ok {
		return unavailableError{page}
	}
	if isNoJSON(err) {
		return unavailableError{fmt.Errorf("%s answers with a web page or other text, not with JSON (is there a "+
			"proxy or a login in between?)", c.host.API.Host)}
	}
	return explainNetwork(err)
}

// isNoJSON reports whether an answer of the API could not be decoded. Such an answer is complete: an error of the
// network is a *url.Error.
func isNoJSON(err error) bool {
	if _, ok := errors.AsType[*url.Error](err); ok {
		return false
	}
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, kind := errors.AsType[*json.UnmarshalTypeError](err)
	return syntax || kind || errors.Is(err, io.ErrUnexpectedEOF)
}

// tokenPlace is where users put a token, for messages.
const tokenPlace = "$" + config.GitHubTokenEnv + " or a service binding of type github"

func (c *Client) limitHint(request Request) string {
	if c.host.Token.Value != "" {
		return "try again then"
	}
	hint := "give a token in " + tokenPlace
	if request.SHA256Setting != "" && request.TagSetting != "" {
		hint += fmt.Sprintf(", or set both %s and %s: then the API is not asked",
			request.TagSetting, request.SHA256Setting)
	}
	return hint
}

func (c *Client) explainStatus(status statusError, request Request) error {
	switch code := status.code; {
	case status.mirror && code < 500 && code != http.StatusTooManyRequests:
		return fmt.Errorf("%w: the dependency mirror does not give the file (check its address, and the user and "+
			"password in it)", status)
	case code == http.StatusUnauthorized && c.host.Token.Value != "":
		return fmt.Errorf("%w: the token from %s is wrong or has expired (make a new one)", status, c.host.Token)
	case code == http.StatusUnauthorized:
		return fmt.Errorf("%w: it wants a token (give one in "+tokenPlace+")", status)
	case code == http.StatusForbidden && c.host.Token.Value != "":
		return fmt.Errorf("%w: the token from %s may not read %s (it needs the permission to read contents, and "+
			"single sign-on if the organisation uses it)", status, c.host.Token, request.Repo)
	case code == http.StatusForbidden:
		return fmt.Errorf("%w: %s is not public (give a token in "+tokenPlace+")", status, request.Repo)
	case code == http.StatusNotFound && c.host.Token.Value != "":
		return fmt.Errorf("%w: there is no such repository or release, or the token from %s may not read it",
			status, c.host.Token)
	case code == http.StatusNotFound:
		return fmt.Errorf("%w: there is no such repository, release or asset, or it is private (then give a token "+
			"in "+tokenPlace+")", status)
	case code == http.StatusTooManyRequests:
		return unavailableError{fmt.Errorf("%w (try again later)", status)}
	case code >= 500:
		return unavailableError{fmt.Errorf("%w, after %d tries (try again later)", status, retries+1)}
	}
	return status
}

// explainNetwork returns an error of the network with its meaning and advice.
func explainNetwork(err error) error {
	if permanent, ok := errors.AsType[permanentError](err); ok {
		return permanent.error
	}
	host, network := "GitHub", false
	// If an answer breaks off, several *url.Error may wrap each other.
	for request, ok := errors.AsType[*url.Error](err); ok; request, ok = errors.AsType[*url.Error](err) {
		if address, err := url.Parse(request.URL); err == nil && address.Host != "" {
			host = address.Hostname()
		}
		err, network = request.Err, true // without the address, whose query may hold a secret
	}
	if invalid, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("connecting to %s: %w (give the build a CA certificate that it can trust)", host, invalid.Err)
	}
	hint := "check the network, and $HTTPS_PROXY if you use a proxy"
	_, broken := errors.AsType[brokenError](err)
	switch dns, isDNS := errors.AsType[*net.DNSError](err); {
	case isDNS && !dns.IsNotFound:
		return unavailableError{fmt.Errorf("looking up the host %s: the name servers do not answer (%s)",
			dns.Name, hint)}
	case isDNS:
		return unavailableError{fmt.Errorf("looking up the host %s: it is not known (%s)", dns.Name, hint)}
	case errors.Is(err, syscall.ECONNREFUSED):
		return unavailableError{fmt.Errorf("connecting to %s: it refuses (%s)", host, hint)}
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return unavailableError{fmt.Errorf("waiting for %s: it took too long (%s)", host, hint)}
	case broken, errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return unavailableError{fmt.Errorf("reading from %s: it broke off, in each of %d tries", host, retries+1)}
	}
	if network {
		return unavailableError{fmt.Errorf("connecting to %s: %w (%s)", host, err, hint)}
	}
	return fmt.Errorf("asking %s: %w", host, err)
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}
