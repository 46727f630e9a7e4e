package check

import (
	"io"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/probe/check/options"
)

// Servers of gRPC's C core hang up without an alert if they miss the client's certificate: the hint is about that one,
// because the server has asked for it.
func TestHangupOfServerThatAsksForCertificate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		asks bool
		cert string
		want string
	}{
		"it asks, and there is none": {true, "", "set -tls-client-cert"},
		"it asks, and there is one":  {true, "client.pem", "does the server trust the CA"},
		"it does not ask":            {false, "", "is this the gRPC port"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options.New()
			o.TLS, o.TLSClientCert = true, c.cert
			o.WantsCert.Store(c.asks)
			if got := answerCause(&o, &DialError{Err: io.EOF}).Hint; !strings.Contains(string(got), c.want) {
				t.Errorf("got the hint %q, want one with %q", got, c.want)
			}
		})
	}
}
