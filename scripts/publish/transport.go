package main

import (
	"fmt"
	"net"
	"net/http"
	"net/url"

	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// encrypted refuses plain HTTP to hosts other than this one. The registry client would use plain HTTP, with the user's
// password, for all private addresses, and wherever a registry redirects.
type encrypted struct{ next http.RoundTripper }

// RoundTrip sends a request, as http.RoundTripper says.
func (e encrypted) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Scheme != "https" && !isLoopback(request.URL) {
		return nil, fmt.Errorf("connecting to %q: plain HTTP is only for a registry on this host: "+
			"give the registry a certificate", request.URL.Host)
	}
	return e.next.RoundTrip(request)
}

func isLoopback(u *url.URL) bool {
	host := u.Hostname()
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// transport is the client's default transport, with its timeouts for connecting and for answers, and only encrypted.
func transport() http.RoundTripper { return encrypted{remote.DefaultTransport} }
