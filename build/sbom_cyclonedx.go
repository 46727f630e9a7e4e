package build

import (
	"io"

	"github.com/CycloneDX/cyclonedx-go"
)

// encodeCycloneDX writes a CycloneDX 1.6 document: the program as the component described, what it links as its
// dependencies.
func encodeCycloneDX(w io.Writer, probe Probe) error {
	program := cycloneDXComponent(cyclonedx.ComponentTypeApplication, mainModule(probe))
	program.Name = programName
	program.Properties = &[]cyclonedx.Property{{Name: LabelKey + ":source", Value: probe.Source}}
	if probe.Origin != "" {
		program.ExternalReferences = &[]cyclonedx.ExternalReference{{Type: cyclonedx.ERTypeDistribution, URL: probe.Origin}}
	}
	program.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: probe.SHA256}}

	components, refs := []cyclonedx.Component{}, []string{}
	for _, m := range modules(probe) {
		component := cycloneDXComponent(cyclonedx.ComponentTypeLibrary, m)
		components = append(components, component)
		refs = append(refs, component.BOMRef)
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &program}
	bom.Components = &components
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: program.BOMRef, Dependencies: &refs}}
	return cyclonedx.NewBOMEncoder(w, cyclonedx.BOMFileFormatJSON).Encode(bom)
}

func cycloneDXComponent(kind cyclonedx.ComponentType, m module) cyclonedx.Component {
	component := cyclonedx.Component{
		BOMRef:     m.purl(),
		Type:       kind,
		Name:       m.name,
		Version:    m.version,
		PackageURL: m.purl(),
	}
	if id := m.licence(); id != "" {
		component.Licenses = &cyclonedx.Licenses{{License: &cyclonedx.License{ID: id}}}
	}
	return component
}
