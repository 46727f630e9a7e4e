package sbom

import (
	"io"

	"github.com/CycloneDX/cyclonedx-go"
)

// encodeCycloneDX writes a CycloneDX 1.6 document. The content is the document's component, the parts are dependencies.
func encodeCycloneDX(w io.Writer, content Component) error {
	tree := number(content)
	described := cycloneDXComponent(cyclonedx.ComponentTypeApplication, tree)
	components, dependencies := []cyclonedx.Component{}, []cyclonedx.Dependency{}
	for _, c := range tree.all() {
		if c.id != tree.id {
			kind := cyclonedx.ComponentTypeLibrary
			if c.SHA256 != "" {
				kind = cyclonedx.ComponentTypeFile
			}
			components = append(components, cycloneDXComponent(kind, c))
		}
		refs := []string{}
		for _, part := range c.parts {
			refs = append(refs, part.id)
		}
		dependencies = append(dependencies, cyclonedx.Dependency{Ref: c.id, Dependencies: &refs})
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &described}
	bom.Components = &components
	bom.Dependencies = &dependencies
	return cyclonedx.NewBOMEncoder(w, cyclonedx.BOMFileFormatJSON).Encode(bom)
}

func cycloneDXComponent(kind cyclonedx.ComponentType, c numbered) cyclonedx.Component {
	component := cyclonedx.Component{BOMRef: c.id, Type: kind, Name: c.Name, Version: c.Version, PackageURL: c.PURL}
	if c.Licence != "" {
		component.Licenses = &cyclonedx.Licenses{{License: &cyclonedx.License{ID: c.Licence}}}
	}
	if c.SHA256 != "" {
		component.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: c.SHA256}}
	}
	if c.Origin != "" {
		component.ExternalReferences = &[]cyclonedx.ExternalReference{{
			Type: cyclonedx.ERTypeDistribution,
			URL:  c.Origin,
		}}
	}
	if c.Source != "" {
		component.Properties = &[]cyclonedx.Property{{Name: sourceProperty, Value: c.Source}}
	}
	return component
}
