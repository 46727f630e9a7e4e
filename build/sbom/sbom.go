// Package sbom writes the components of a program or a layer as an SBOM, in the formats CycloneDX, SPDX and Syft. A
// [Component] goes in, files come out. All formats say the same. The files hold no time and no random id, so the same
// content gives the same bytes.
//
// Begin with [GoProgram], which describes a Go program by its build info, and [Write].
package sbom

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/buildpacks/libcnb/v2"
)

const (
	// toolName is the documents' creator.
	toolName = "grpc-cnb-health-probe"
	// sourceProperty is the CycloneDX property with a component's source, and begins with the key of the image's label.
	sourceProperty = "io.github.grpc-cnb.health-probe:source"
)

// Write writes the SBOM of a layer, or of the image, in the three formats of buildpack.toml (buildpack
// spec, Software Bill-of-Materials). Path returns the file for a format, as libcnb.Layer.SBOMPath does.
func Write(path func(libcnb.SBOMFormat) string, content Component) error {
	return errors.Join(
		writeDocument(path(libcnb.CycloneDXJSON), encodeCycloneDX, content),
		writeDocument(path(libcnb.SPDXJSON), encodeSPDX, content),
		writeDocument(path(libcnb.SyftJSON), encodeSyft, content))
}

// Exists reports whether the SBOM exists in all three formats, as after the platform restored the layer.
func Exists(path func(libcnb.SBOMFormat) string) bool {
	for _, format := range []libcnb.SBOMFormat{libcnb.CycloneDXJSON, libcnb.SPDXJSON, libcnb.SyftJSON} {
		if _, err := os.Stat(path(format)); err != nil {
			return false
		}
	}
	return true
}

// WriteBeside writes the SBOM of a file beside the file, as FILE.cdx.json and FILE.spdx.json.
func WriteBeside(file string, content Component) error {
	return errors.Join(
		writeDocument(file+".cdx.json", encodeCycloneDX, content),
		writeDocument(file+".spdx.json", encodeSPDX, content))
}

func writeDocument(path string, encode func(io.Writer, Component) error, content Component) error {
	var buffer bytes.Buffer
	if err := encode(&buffer, content); err != nil {
		return fmt.Errorf("encoding the SBOM %q: %w", path, err)
	}
	if err := os.WriteFile(path, buffer.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the SBOM: %w", err)
	}
	return nil
}

// FileSHA256 returns the SHA-256 of a file, in hex.
func FileSHA256(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, f); err != nil {
		return "", fmt.Errorf("reading %q: %w", file, err)
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}
