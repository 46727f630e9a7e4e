package build

import (
	"bytes"
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
	for format, encode := range map[libcnb.SBOMFormat]func(io.Writer, Probe) error{
		libcnb.CycloneDXJSON: encodeCycloneDX,
		libcnb.SPDXJSON:      encodeSPDX,
		libcnb.SyftJSON:      encodeSyft,
	} {
		var buffer bytes.Buffer
		if err := encode(&buffer, probe); err != nil {
			return fmt.Errorf("encoding the SBOM as %q: %w", format, err)
		}
		if err := os.WriteFile(layer.SBOMPath(format), buffer.Bytes(), 0o644); err != nil {
			return fmt.Errorf("writing the SBOM: %w", err)
		}
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
