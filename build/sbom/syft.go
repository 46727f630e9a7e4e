package sbom

import (
	"cmp"
	"encoding/json"
	"io"
)

// These types are the part of Syft's JSON schema 1.1.0 that Syft and Grype read. The types in libpak lack the
// lower-case names that the schema demands.
type syftDocument struct {
	Artifacts  []syftArtifact `json:"artifacts"`
	Files      []syftFile     `json:"files"`
	Source     syftSource     `json:"source"`
	Descriptor syftDescriptor `json:"descriptor"`
	Schema     syftSchema     `json:"schema"`
}

type syftArtifact struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Version   string         `json:"version"`
	Type      string         `json:"type"`
	FoundBy   string         `json:"foundBy"`
	Locations []syftLocation `json:"locations"`
	Licenses  []string       `json:"licenses"`
	Language  string         `json:"language"`
	CPEs      []string       `json:"cpes"`
	PURL      string         `json:"purl"`
}

type syftFile struct {
	ID       string       `json:"id"`
	Location syftLocation `json:"location"`
	Digests  []syftDigest `json:"digests"`
}

type syftDigest struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"value"`
}

type syftLocation struct {
	Path string `json:"path"`
}

type syftSource struct {
	Type   string `json:"type"`
	Target string `json:"target"`
}

type syftDescriptor struct {
	Name          string     `json:"name"`
	Version       string     `json:"version"`
	Configuration syftOrigin `json:"configuration"`
}

// syftOrigin says where a program or assets came from. The schema has no other place for that.
type syftOrigin struct {
	Source string      `json:"source,omitempty"`
	URL    string      `json:"url,omitempty"`
	Assets []syftAsset `json:"assets,omitempty"`
}

type syftAsset struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

type syftSchema struct {
	Version string `json:"version"`
	URL     string `json:"url"`
}

// encodeSyft writes a Syft document: an artifact for each component with a package URL, a file for each with a digest.
func encodeSyft(w io.Writer, content Component) error {
	document := syftDocument{
		Artifacts: []syftArtifact{},
		Files:     []syftFile{},
		Source:    syftSource{Type: "file", Target: content.Name},
		Descriptor: syftDescriptor{Name: toolName, Configuration: syftOrigin{
			Source: content.Source,
			URL:    content.Origin,
		}},
		Schema: syftSchema{
			Version: "1.1.0",
			URL:     "https://raw.githubusercontent.com/anchore/syft/main/schema/json/schema-1.1.0.json",
		},
	}
	document.add(number(content), content.Name)
	return json.NewEncoder(w).Encode(document)
}

// add adds a component that was found in file, and all components below it.
func (d *syftDocument) add(c numbered, file string) {
	if c.SHA256 != "" {
		file = c.Name
		d.Files = append(d.Files, syftFile{
			ID: c.id, Location: syftLocation{file},
			Digests: []syftDigest{{"sha256", c.SHA256}},
		})
	}
	if c.Origin != "" && c.Origin != d.Descriptor.Configuration.URL {
		d.Descriptor.Configuration.Assets = append(d.Descriptor.Configuration.Assets, syftAsset{c.Name, c.Origin})
	}
	if c.PURL != "" {
		artifact := syftArtifact{
			ID: c.id, Name: cmp.Or(c.Module, c.Name), Version: c.Version, Type: "binary",
			FoundBy:   toolName,
			Locations: []syftLocation{{file}}, Licenses: []string{}, CPEs: []string{}, PURL: c.PURL,
		}
		if c.Module != "" {
			artifact.Type, artifact.FoundBy, artifact.Language = "go-module", "go-buildinfo", "go"
		}
		if c.Licence != "" {
			artifact.Licenses = append(artifact.Licenses, c.Licence)
		}
		d.Artifacts = append(d.Artifacts, artifact)
	}
	for _, part := range c.parts {
		d.add(part, file)
	}
}
