package build

import (
	"cmp"
	"encoding/json"
	"io"
)

// The part of Syft's JSON schema 1.1.0 that Syft and Grype read. libpak has these types too, but without the lower-case
// names that the schema demands.
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

// syftOrigin is where a program, or assets, came from; the format has no place of its own for that.
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

// encodeSyft writes a Syft document: an artifact for each thing that has a package URL, a file for each that has a digest.
func encodeSyft(w io.Writer, content component) error {
	document := syftDocument{
		Artifacts:  []syftArtifact{},
		Files:      []syftFile{},
		Source:     syftSource{Type: "file", Target: content.name},
		Descriptor: syftDescriptor{Name: toolName, Configuration: syftOrigin{Source: content.source, URL: content.origin}},
		Schema: syftSchema{
			Version: "1.1.0",
			URL:     "https://raw.githubusercontent.com/anchore/syft/main/schema/json/schema-1.1.0.json",
		},
	}
	document.add(number(content), content.name)
	return json.NewEncoder(w).Encode(document)
}

// add adds a component, found in file, and all below it.
func (d *syftDocument) add(c numbered, file string) {
	if c.sha256 != "" {
		file = c.name
		d.Files = append(d.Files, syftFile{ID: c.id, Location: syftLocation{file}, Digests: []syftDigest{{"sha256", c.sha256}}})
	}
	if c.origin != "" && c.origin != d.Descriptor.Configuration.URL {
		d.Descriptor.Configuration.Assets = append(d.Descriptor.Configuration.Assets, syftAsset{c.name, c.origin})
	}
	if c.purl != "" {
		artifact := syftArtifact{ID: c.id, Name: cmp.Or(c.module, c.name), Version: c.version, Type: "binary", FoundBy: toolName,
			Locations: []syftLocation{{file}}, Licenses: []string{}, CPEs: []string{}, PURL: c.purl}
		if c.module != "" {
			artifact.Type, artifact.FoundBy, artifact.Language = "go-module", "go-buildinfo", "go"
		}
		if c.licence != "" {
			artifact.Licenses = append(artifact.Licenses, c.licence)
		}
		d.Artifacts = append(d.Artifacts, artifact)
	}
	for _, part := range c.parts {
		d.add(part, file)
	}
}
