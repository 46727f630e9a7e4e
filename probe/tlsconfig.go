package probe

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
)

// maxPEM is the greatest size of a PEM file, in bytes. It is four times the size of a system's bundle of CAs.
const maxPEM = 1 << 20

// TLSConfig returns the client's side of TLS as the flags -tls-* describe it. It offers HTTP/2 by ALPN (RFC 9113
// section 3.2), but accepts a server that does not answer the offer: old servers that speak HTTP/2 do not, nor do some
// behind a proxy. It notes whether the server asks for a client certificate, for the words about a handshake that
// fails. The error is a *[Failure] for files that cannot be used.
func (o *Options) TLSConfig() (*tls.Config, error) {
	config := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		NextProtos:         []string{"h2"},
		ServerName:         o.ServerName(),
		InsecureSkipVerify: o.TLSNoVerify,
	}
	var pair *tls.Certificate
	wantsCert := o.wantsCert
	wantsCert.Store(false)
	config.GetClientCertificate = func(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		wantsCert.Store(true)
		if pair != nil && asked.SupportsCertificate(pair) == nil {
			return pair, nil
		}
		return &tls.Certificate{}, nil
	}
	var err error
	if o.TLSCACert != "" {
		if config.RootCAs, err = readCAs(o.TLSCACert); err != nil {
			return nil, err
		}
	}
	if o.TLSClientCert != "" {
		own, err := readKeyPair(o.TLSClientCert, o.TLSClientKey)
		if err != nil {
			return nil, err
		}
		pair = &own
	}
	return config, nil
}

func readCAs(path string) (*x509.CertPool, error) {
	pem, err := readBoundedFile(path, maxPEM)
	if err != nil {
		return nil, misuse(fmt.Errorf("reading -tls-ca-cert %q: %w", path, err),
			"is it mounted and readable for the probe's user?")
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, misuse(fmt.Errorf("reading -tls-ca-cert %q: no certificate in it", path),
			"the file has to be PEM, -----BEGIN CERTIFICATE-----")
	}
	return pool, nil
}

func readKeyPair(certPath, keyPath string) (tls.Certificate, error) {
	cert, err := readBoundedFile(certPath, maxPEM)
	if err != nil {
		return tls.Certificate{},
			misuse(fmt.Errorf("reading -tls-client-cert %q: %w", certPath, err),
				"is it mounted and readable for the probe's user?")
	}
	key, err := readBoundedFile(keyPath, maxPEM)
	if err != nil {
		return tls.Certificate{},
			misuse(fmt.Errorf("reading -tls-client-key %q: %w", keyPath, err),
				"is it mounted and readable for the probe's user?")
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{},
			misuse(fmt.Errorf("loading -tls-client-cert %q with -tls-client-key %q: %w", certPath, keyPath, err),
				"both have to be PEM and belong together")
	}
	return pair, nil
}
