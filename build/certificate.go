package build

import (
	"crypto/x509"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/grpc-cnb/health-probe/build/execprobe"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// certificateIn returns the certificate in a file that the app's sources name, if it lies in the app and a probe can
// verify the server by it; the zero value otherwise. A server reads its files from the app's folder, which is the same
// in the image.
func certificateIn(appDir, file string) execprobe.Certificate {
	name := nameIn(appDir, file)
	switch {
	case name == "":
		return execprobe.Certificate{}
	case !filepath.IsAbs(file):
		file = filepath.Join(appDir, file)
	}
	return execprobe.Certificate{File: file, Name: name}
}

// maxCertificate is the greatest size of a file with certificates that is read, in bytes.
const maxCertificate = 64 << 10

// nameIn returns a name of the first certificate in a file of the app, "" if the file is not in the app, or if a probe
// could not verify a server by it.
func nameIn(appDir, file string) string {
	root, err := os.OpenRoot(appDir)
	if err != nil || file == "" {
		return ""
	}
	defer root.Close()
	relative := file
	if filepath.IsAbs(file) {
		if relative, err = filepath.Rel(appDir, file); err != nil {
			return ""
		}
	}
	if info, err := root.Stat(relative); err != nil || !info.Mode().IsRegular() || info.Size() > maxCertificate {
		return ""
	}
	opened, err := root.Open(relative)
	if err != nil {
		return ""
	}
	defer opened.Close()
	text, err := io.ReadAll(io.LimitReader(opened, maxCertificate))
	if err != nil {
		return ""
	}
	return nameOf(text, time.Now())
}

// nameOf returns a name that the first certificate in a text of PEM is valid for, which flags can carry.
func nameOf(text []byte, now time.Time) string {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return ""
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil || now.Before(certificate.NotBefore) || now.Add(minValidity).After(certificate.NotAfter) {
		return ""
	}
	for _, name := range certificate.DNSNames {
		name = strings.Replace(name, "*", "probe", 1)
		if plan.Printable(name) == name && name != "" && certificate.VerifyHostname(name) == nil {
			return name
		}
	}
	if len(certificate.IPAddresses) > 0 {
		return certificate.IPAddresses[0].String()
	}
	return ""
}

// minValidity is how long a certificate must be valid yet, or the probe would fail soon after the build.
const minValidity = 30 * 24 * time.Hour
