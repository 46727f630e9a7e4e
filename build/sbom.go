package build

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/buildpacks/libcnb/v2"
)

// toolName is the maker that the documents name.
const toolName = "grpc-cnb-health-probe"

// writeSBOM writes the SBOM of a layer, or of the image, in the three formats that buildpack.toml announces (buildpack
// spec, Software Bill-of-Materials), each where path says. All of them say the same, and hold no time and no random id: the
// same content gives the same bytes.
func writeSBOM(path func(libcnb.SBOMFormat) string, content component) error {
	return errors.Join(
		writeDocument(path(libcnb.CycloneDXJSON), encodeCycloneDX, content),
		writeDocument(path(libcnb.SPDXJSON), encodeSPDX, content),
		writeDocument(path(libcnb.SyftJSON), encodeSyft, content))
}

// Describe writes the SBOM of a probe that is released as a file, beside it: FILE.cdx.json and FILE.spdx.json.
func Describe(file string) error {
	probe, err := open(file, "release")
	if err != nil {
		return err
	}
	return errors.Join(
		writeDocument(file+".cdx.json", encodeCycloneDX, probe.component()),
		writeDocument(file+".spdx.json", encodeSPDX, probe.component()))
}

func writeDocument(path string, encode func(io.Writer, component) error, content component) error {
	var buffer bytes.Buffer
	if err := encode(&buffer, content); err != nil {
		return fmt.Errorf("encoding the SBOM %q: %w", path, err)
	}
	if err := os.WriteFile(path, buffer.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the SBOM: %w", err)
	}
	return nil
}
