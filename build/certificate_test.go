package build

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/build/execprobe"
)

// certificate returns a certificate in PEM.
func certificate(t *testing.T, template x509.Certificate) []byte {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(1)
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// A certificate in the app is named in the exec probe if a probe can verify the server by it for some time yet.
func TestCertificatesOfApps(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	from, later := time.Now().Add(-time.Hour), time.Now().Add(365*24*time.Hour)
	loopback := []net.IP{{127, 0, 0, 1}}
	valid := certificate(t, x509.Certificate{DNSNames: []string{"*.shop"}, NotBefore: from, NotAfter: later})
	for name, text := range map[string][]byte{
		"valid.pem":   valid,
		"ip.pem":      certificate(t, x509.Certificate{IPAddresses: loopback, NotBefore: from, NotAfter: later}),
		"old.pem":     certificate(t, x509.Certificate{DNSNames: []string{"shop"}, NotBefore: from, NotAfter: from}),
		"nobody.pem":  certificate(t, x509.Certificate{NotBefore: from, NotAfter: later}),
		"text.pem":    []byte("-----BEGIN"),
		"long.pem":    append(make([]byte, maxCertificate), valid...),
		"private.pem": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY"}),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outside, "valid.pem"), valid, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "valid.pem"), filepath.Join(dir, "link.pem")); err != nil {
		t.Fatal(err)
	}
	inDir := func(name string) string { return filepath.Join(dir, name) }
	for file, want := range map[string]execprobe.Certificate{
		"valid.pem":            {File: inDir("valid.pem"), Name: "probe.shop"},
		inDir("valid.pem"):     {File: inDir("valid.pem"), Name: "probe.shop"},
		"./valid.pem":          {File: inDir("valid.pem"), Name: "probe.shop"},
		"ip.pem":               {File: inDir("ip.pem"), Name: "127.0.0.1"},
		"":                     {},
		".":                    {},
		"none.pem":             {},
		"old.pem":              {},
		"nobody.pem":           {},
		"text.pem":             {},
		"long.pem":             {},
		"private.pem":          {},
		"link.pem":             {},
		"../../etc/passwd":     {},
		"/etc/ssl/server.pem":  {},
		outside + "/valid.pem": {},
	} {
		if got := certificateIn(dir, file); got != want {
			t.Errorf("%s: got %+v, want %+v", file, got, want)
		}
	}
}
