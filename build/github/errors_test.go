package github

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
)

// A server may ask for a pause (Retry-After), but not for one that stops the build.
func TestServersCannotMakePausesLong(t *testing.T) {
	response := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"3600"}}}
	if got := pause(minPause, maxPause, 0, response); got != maxPause {
		t.Errorf("it pauses for %v", got)
	}
}

func TestNetworkErrors(t *testing.T) {
	for want, cause := range map[string]error{
		"looking up the host api.github.com: it is not known":                &net.DNSError{Name: "api.github.com", IsNotFound: true},
		"looking up the host api.github.com: the name servers do not answer": &net.DNSError{Name: "api.github.com", IsTimeout: true},
		"waiting for api.github.com: it took too long":                       &net.OpError{Op: "dial", Err: syscall.ETIMEDOUT},
		"reading from api.github.com: it broke off, in each of 4 tries":      &net.OpError{Op: "read", Err: syscall.ECONNRESET},
		"connecting to api.github.com: dial: network is unreachable":         &net.OpError{Op: "dial", Err: syscall.ENETUNREACH},
	} {
		// As net/http wraps it, with an address whose query is a secret.
		err := explainNetwork(fmt.Errorf("wrapped: %w", &url.Error{Op: "Get", URL: "https://api.github.com/x?signature=secret", Err: cause}))
		if !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v, want %q", err, want)
		}
		if !IsUnavailable(err) {
			t.Errorf("%v is not taken for one that passes", err)
		}
	}
}
