package build

import (
	"io"

	"github.com/CycloneDX/cyclonedx-go"
)

// encodeCycloneDX writes a CycloneDX 1.6 document: what is described as the document's component, all that it is made of as
// dependencies.
func encodeCycloneDX(w io.Writer, content component) error {
	tree := number(content)
	described := cycloneDXComponent(cyclonedx.ComponentTypeApplication, tree)
	components, dependencies := []cyclonedx.Component{}, []cyclonedx.Dependency{}
	for _, c := range tree.all() {
		if c.id != tree.id {
			kind := cyclonedx.ComponentTypeLibrary
			if c.sha256 != "" {
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
	component := cyclonedx.Component{BOMRef: c.id, Type: kind, Name: c.name, Version: c.version, PackageURL: c.purl}
	if c.licence != "" {
		component.Licenses = &cyclonedx.Licenses{{License: &cyclonedx.License{ID: c.licence}}}
	}
	if c.sha256 != "" {
		component.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: c.sha256}}
	}
	if c.origin != "" {
		component.ExternalReferences = &[]cyclonedx.ExternalReference{{Type: cyclonedx.ERTypeDistribution, URL: c.origin}}
	}
	if c.source != "" {
		component.Properties = &[]cyclonedx.Property{{Name: LabelKey + ":source", Value: c.source}}
	}
	return component
}
