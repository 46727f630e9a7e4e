package probe

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// tlsCause is for the TLS handshake. With TLS 1.3 the server judges the
// client's certificate after it, so the server's first word may be an alert.
func tlsCause(o *Options, err error) *Failure {
	if isHangup(err) {
		return because(classTLS, errors.New("the server closed the connection in the TLS handshake"), "if the server speaks no TLS, leave out -tls")
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return because(classTLS, errors.New("the server does not speak TLS"), "leave out -tls, or name the TLS port with -addr")
	}
	if host, ok := errors.AsType[x509.HostnameError](err); ok {
		hint := "set -tls-server-name to a name that the certificate carries"
		if len(host.Certificate.DNSNames)+len(host.Certificate.IPAddresses) == 0 {
			hint = "renew the certificate with a subject alternative name (SAN): its common name alone counts for nothing"
		}
		return because(classTLS, host, hint)
	}
	if unknown, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return because(classTLS, unknown, "name the CA of the server's certificate with -tls-ca-cert")
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return because(classTLS, validity(invalid.Cert), "renew the certificate; if it is new, compare the clocks")
	}
	if isAlert(err, alertNoProtocol) || strings.Contains(err.Error(), "unadvertised ALPN protocol") {
		return because(classTLS, errors.New("the server does not offer HTTP/2 (ALPN h2)"), "name the gRPC port with -addr, or turn on HTTP/2 in the server or the proxy before it")
	}
	if isRemoteAlert(err) {
		return alertCause(o, err)
	}
	return because(classTLS, innermost(err), "")
}

// validity says when a certificate is valid, since now it is not.
func validity(cert *x509.Certificate) error {
	return fmt.Errorf("the certificate of %q is valid from %s to %s", cert.Subject.CommonName,
		cert.NotBefore.UTC().Format(time.RFC3339), cert.NotAfter.UTC().Format(time.RFC3339))
}

// TLS alerts (RFC 8446 section 6). By all but the last servers refuse a client
// certificate, or that there is none; which of them depends on who made them.
const (
	alertHandshakeFailure tls.AlertError = 40
	alertBadCertificate   tls.AlertError = 42
	alertUnsupportedCert  tls.AlertError = 43
	alertRevokedCert      tls.AlertError = 44
	alertExpiredCert      tls.AlertError = 45
	alertUnknownCert      tls.AlertError = 46
	alertUnknownCA        tls.AlertError = 48
	alertCertRequired     tls.AlertError = 116
	alertNoProtocol       tls.AlertError = 120
)

func alertCause(o *Options, err error) *Failure {
	cause := fmt.Errorf("the server ended TLS: %w", innermost(err))
	about := isAlert(err, alertHandshakeFailure, alertBadCertificate, alertUnsupportedCert, alertRevokedCert, alertExpiredCert,
		alertUnknownCert, alertUnknownCA, alertCertRequired)
	switch {
	case about && o.TLSClientCert == "":
		return because(classTLS, cause, "the server may want a client certificate: set -tls-client-cert and -tls-client-key")
	case about:
		return because(classTLS, cause, "does the server trust the CA of -tls-client-cert, and is that certificate valid?")
	}
	return because(classTLS, cause, "")
}

// isRemoteAlert reports whether the peer sent a TLS alert: crypto/tls says so
// in the operation of the error.
func isRemoteAlert(err error) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	return ok && failed.Op == "remote error"
}

// isAlert compares texts, since the alerts inside a net.OpError are of a type
// that crypto/tls does not export.
func isAlert(err error, alerts ...tls.AlertError) bool {
	for _, alert := range alerts {
		if isRemoteAlert(err) && strings.HasSuffix(err.Error(), alert.Error()) {
			return true
		}
	}
	return false
}
