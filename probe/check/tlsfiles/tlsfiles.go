// Package tlsfiles makes the client's side of TLS of the PEM files in flags. Begin with [Files.Config].
package tlsfiles

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"

	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/check/rawfile"
)

// maxPEM is the greatest size of a PEM file, in bytes: four times the size of a system's bundle of CAs.
const maxPEM = 1 << 20

// Files are the paths of PEM files, each empty for none.
type Files struct {
	// CACert has the CAs to trust, instead of the system's.
	CACert string
	// ClientCert and ClientKey are the client's own certificate and its key.
	ClientCert, ClientKey string
}

// Config reads the files, and returns a config with their content. The config offers HTTP/2 by ALPN (RFC 9113 section
// 3.2), but accepts a server without an answer to the offer: old servers with HTTP/2 give none, nor do some behind a
// proxy. For pause see [rawfile.Read]. Config calls asked when the server asks for a client certificate. The error is a
// *[outcome.Failure] for unusable files.
func (f Files) Config(asked func(), pause func() bool) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2"}}
	var pair *tls.Certificate
	config.GetClientCertificate = func(request *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		asked()
		if pair != nil && request.SupportsCertificate(pair) == nil {
			return pair, nil
		}
		return &tls.Certificate{}, nil
	}
	var err error
	if f.CACert != "" {
		if config.RootCAs, err = readCAs(f.CACert, pause); err != nil {
			return nil, err
		}
	}
	if f.ClientCert != "" {
		own, err := readKeyPair(f.ClientCert, f.ClientKey, pause)
		if err != nil {
			return nil, err
		}
		pair = &own
	}
	return config, nil
}

func readCAs(path string, pause func() bool) (*x509.CertPool, error) {
	pem, err := rawfile.Read(path, maxPEM, pause)
	if err != nil {
		return nil, outcome.Misuse(fmt.Errorf("reading -tls-ca-cert %q: %w", path, err), rawfile.Hint(err))
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, outcome.Misuse(fmt.Errorf("reading -tls-ca-cert %q: no certificate in it", path),
			"the file has to be PEM, -----BEGIN CERTIFICATE-----")
	}
	return pool, nil
}

func readKeyPair(certPath, keyPath string, pause func() bool) (tls.Certificate, error) {
	cert, err := rawfile.Read(certPath, maxPEM, pause)
	if err != nil {
		return tls.Certificate{},
			outcome.Misuse(fmt.Errorf("reading -tls-client-cert %q: %w", certPath, err), rawfile.Hint(err))
	}
	key, err := rawfile.Read(keyPath, maxPEM, pause)
	if err != nil {
		return tls.Certificate{},
			outcome.Misuse(fmt.Errorf("reading -tls-client-key %q: %w", keyPath, err), rawfile.Hint(err))
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{}, outcome.Misuse(
			fmt.Errorf("loading -tls-client-cert %q with -tls-client-key %q: %w", certPath, keyPath, err),
			"both have to be PEM and belong together")
	}
	return pair, nil
}
