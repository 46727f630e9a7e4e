package build

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/buildpacks/libcnb/v2"
	"github.com/package-url/packageurl-go"
)

// toolName is the maker that the documents name.
const toolName = "grpc-cnb-health-probe"

// writeSBOM writes the layer's SBOM in the three formats that buildpack.toml announces (buildpack spec, Software
// Bill-of-Materials). All of them say what the program's build info says, and hold no time and no random id: the same
// program gives the same bytes.
func writeSBOM(layer libcnb.Layer, probe Probe) error {
	return errors.Join(
		writeDocument(layer.SBOMPath(libcnb.CycloneDXJSON), encodeCycloneDX, probe),
		writeDocument(layer.SBOMPath(libcnb.SPDXJSON), encodeSPDX, probe),
		writeDocument(layer.SBOMPath(libcnb.SyftJSON), encodeSyft, probe))
}

// Describe writes the SBOM of a probe that is released as a file, beside it: FILE.cdx.json and FILE.spdx.json.
func Describe(file string) error {
	probe, err := open(file, "release")
	if err != nil {
		return err
	}
	return errors.Join(
		writeDocument(file+".cdx.json", encodeCycloneDX, probe),
		writeDocument(file+".spdx.json", encodeSPDX, probe))
}

func writeDocument(path string, encode func(io.Writer, Probe) error, probe Probe) error {
	var buffer bytes.Buffer
	if err := encode(&buffer, probe); err != nil {
		return fmt.Errorf("encoding the SBOM %q: %w", path, err)
	}
	if err := os.WriteFile(path, buffer.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the SBOM: %w", err)
	}
	return nil
}

// module is one module linked into a program.
type module struct {
	name, version string
}

// modules returns what is linked into the program beside its main module: the modules, replacements applied, and the
// standard library, under the name and version by which vulnerability databases know it.
func modules(probe Probe) []module {
	if probe.Info == nil {
		return nil
	}
	linked := []module{{"stdlib", strings.TrimPrefix(probe.Info.GoVersion, "go")}}
	for _, dep := range probe.Info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		linked = append(linked, module{dep.Path, dep.Version})
	}
	return linked
}

// mainModule returns what the program itself is: without build info, its name.
func mainModule(probe Probe) module {
	if probe.Info == nil {
		return module{programName, probe.Version}
	}
	return module{probe.Info.Main.Path, probe.Version}
}

// purl returns the module's package URL (purl-spec, type golang, or generic for a program of which no module is known).
func (m module) purl() string {
	if m.name == programName {
		return packageurl.NewPackageURL(packageurl.TypeGeneric, "", m.name, m.version, nil, "").ToString()
	}
	namespace, name := "", m.name
	if i := strings.LastIndex(m.name, "/"); i >= 0 {
		namespace, name = m.name[:i], m.name[i+1:]
	}
	version := m.version
	if version == "(devel)" {
		version = ""
	}
	return packageurl.NewPackageURL(packageurl.TypeGolang, namespace, name, version, nil, "").ToString()
}
