package check

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// tlsCause explains why the TLS handshake failed. In TLS 1.3 the server checks the client's certificate after the
// handshake, so the error can also come with the first bytes read.
func tlsCause(o *options.Options, err error) *outcome.Failure {
	if IsHangup(err) {
		f := outcome.NoConnection(outcome.ClassTLS,
			errors.New("the server closed the connection in the TLS handshake"),
			"if the server does not speak TLS, leave out -tls")
		f.Speaks = outcome.Closed
		return f
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		f := outcome.NoConnection(outcome.ClassTLS, errors.New("the server does not speak TLS"),
			"leave out -tls, or name the TLS port with -addr")
		f.Speaks = outcome.OtherProtocol
		return f
	}
	if host, ok := errors.AsType[x509.HostnameError](err); ok {
		hint := outcome.Hint("set -tls-server-name to a name that the certificate carries")
		if len(host.Certificate.DNSNames)+len(host.Certificate.IPAddresses) == 0 {
			hint = "renew the certificate with a subject alternative name (SAN): " +
				"its common name alone is not enough"
		}
		return outcome.NoConnection(outcome.ClassTLS, host, hint)
	}
	if unknown, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return outcome.NoConnection(outcome.ClassTLS, unknown,
			"name the CA of the server's certificate with -tls-ca-cert")
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return outcome.NoConnection(outcome.ClassTLS, validity(invalid.Cert),
			"renew the certificate; if it is new, compare the clocks")
	}
	if isAlert(err, alertNoProtocol) || strings.Contains(err.Error(), "unadvertised ALPN protocol") {
		return outcome.NoConnection(outcome.ClassTLS, errors.New("the server does not offer HTTP/2 (ALPN h2)"),
			"name the gRPC port with -addr, or turn on HTTP/2 in the server or the proxy in front of it")
	}
	if isRemoteAlert(err) {
		return alertCause(o, err)
	}
	if strings.Contains(err.Error(), "unsupported protocol version") {
		return outcome.NoConnection(outcome.ClassTLS, Innermost(err), versionHint)
	}
	return outcome.NoConnection(outcome.ClassTLS, Innermost(err), "")
}

// validity returns the error for a certificate that is not valid now.
func validity(cert *x509.Certificate) error {
	return fmt.Errorf("the certificate of %q is valid from %s to %s", cert.Subject.CommonName,
		cert.NotBefore.UTC().Format(time.RFC3339), cert.NotAfter.UTC().Format(time.RFC3339))
}

// TLS alerts (RFC 8446 section 6). With the alerts up to certificate_required, except the two about the offer, servers
// refuse a client certificate or complain that there is none. The choice of the alert depends on the TLS library of the
// server: handshake_failure may mean a certificate or the offer.
const (
	alertHandshakeFailure tls.AlertError = 40
	alertBadCertificate   tls.AlertError = 42
	alertUnsupportedCert  tls.AlertError = 43
	alertRevokedCert      tls.AlertError = 44
	alertExpiredCert      tls.AlertError = 45
	alertUnknownCert      tls.AlertError = 46
	alertUnknownCA        tls.AlertError = 48
	alertVersion          tls.AlertError = 70
	alertSecurity         tls.AlertError = 71
	alertCertRequired     tls.AlertError = 116
	alertNoProtocol       tls.AlertError = 120
)

func alertCause(o *options.Options, err error) *outcome.Failure {
	cause := fmt.Errorf("the server ended TLS: %w", Innermost(err))
	about := isAlert(err, alertHandshakeFailure, alertBadCertificate, alertUnsupportedCert, alertRevokedCert,
		alertExpiredCert, alertUnknownCert, alertUnknownCA, alertCertRequired)
	switch {
	case isAlert(err, alertVersion):
		return outcome.NoConnection(outcome.ClassTLS, cause, versionHint)
	case isAlert(err, alertSecurity), isAlert(err, alertHandshakeFailure) && !o.WantsCert.Load():
		return outcome.NoConnection(outcome.ClassTLS, cause, cipherHint)
	case about && o.TLSClientCert == "":
		return outcome.NoConnection(outcome.ClassTLS, cause,
			"the server may want a client certificate: set -tls-client-cert and -tls-client-key")
	case about:
		return outcome.NoConnection(outcome.ClassTLS, cause,
			"does the server trust the CA of -tls-client-cert, and is that certificate valid?")
	}
	return outcome.NoConnection(outcome.ClassTLS, cause, "")
}

// Hints for a server and a probe with nothing in common. The offer of the probe is that of Go's package crypto/tls.
const (
	versionHint outcome.Hint = "the server's newest TLS version is older than 1.2: turn on a newer one in the server"
	cipherHint  outcome.Hint = "the server accepts no cipher, curve or signature that the probe offers: " +
		"allow a cipher with ECDHE and AES-GCM or ChaCha20"
)

// isRemoteAlert reports whether the peer sent a TLS alert. Package crypto/tls marks such an error by its operation.
func isRemoteAlert(err error) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	return ok && failed.Op == "remote error"
}

// isAlert compares texts, since crypto/tls does not export the type of the alerts inside a net.OpError.
func isAlert(err error, alerts ...tls.AlertError) bool {
	for _, alert := range alerts {
		if isRemoteAlert(err) && strings.HasSuffix(err.Error(), alert.Error()) {
			return true
		}
	}
	return false
}
