package main

import (
	"fmt"
	"net"
	"net/http"
	"net/url"

	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// encrypted refuses plain HTTP to other hosts than this one. The client of registries would use it, with the user's
// password, for all private addresses, and wherever a registry sends it.
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

// transport is the client's own, with its limits of time for connecting and for answers, and only encrypted.
func transport() http.RoundTripper { return encrypted{remote.DefaultTransport} }
