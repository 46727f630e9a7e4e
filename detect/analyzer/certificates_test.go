package analyzer

import (
	"testing"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

func TestCertificatesAreToldFromKeys(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]plan.Security{
		`load("server.crt", "server.key")`:                      {Certificate: "server.crt"},
		`load("certs/server-cert.pem", "certs/server-key.pem")`: {Certificate: "certs/server-cert.pem"},
		`load("KEY.PEM", "cert.pem")`:                           {Certificate: "cert.pem"},
		`load("cert.pem", "key.pem", "ca.pem")`:                 {Certificate: "cert.pem", Authority: "ca.pem"},
		`load("own.pem", "client.pem", "client-ca.pem")`:        {Certificate: "own.pem", Authority: "client-ca.pem"},
		`load("a.pem", "b.pem")`:                                {},
		`load("a.pem"); load("a.pem")`:                          {Certificate: "a.pem"},
		`load("key.pem")`:                                       {},
	} {
		want.Transport = plan.TLS
		text := source.Grammar{source.String(`"`, `"`, source.Quoting{})}.Read([]byte(code))
		if got := Certificates(text); got != want {
			t.Errorf("%s: %+v, want %+v", code, got, want)
		}
	}
}
