package build

import (
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

// syftOrigin is where the program came from; the format has no place of its own for that.
type syftOrigin struct {
	Source string `json:"source"`
	URL    string `json:"url,omitempty"`
}

type syftSchema struct {
	Version string `json:"version"`
	URL     string `json:"url"`
}

// encodeSyft writes a Syft document: one artifact for the program's main module and for each module it links.
func encodeSyft(w io.Writer, probe Probe) error {
	document := syftDocument{
		Source:     syftSource{Type: "file", Target: programName},
		Descriptor: syftDescriptor{Name: toolName, Configuration: syftOrigin{probe.Source, probe.Origin}},
		Files: []syftFile{{ID: probe.SHA256, Location: syftLocation{Path: programName},
			Digests: []syftDigest{{Algorithm: "sha256", Value: probe.SHA256}}}},
		Schema: syftSchema{
			Version: "1.1.0",
			URL:     "https://raw.githubusercontent.com/anchore/syft/main/schema/json/schema-1.1.0.json",
		},
	}
	for _, m := range append([]module{mainModule(probe)}, modules(probe)...) {
		licences := []string{}
		if id := m.licence(); id != "" {
			licences = append(licences, id)
		}
		document.Artifacts = append(document.Artifacts, syftArtifact{
			ID:        m.purl(),
			Name:      m.name,
			Version:   m.version,
			Type:      "go-module",
			FoundBy:   "go-buildinfo",
			Locations: []syftLocation{{Path: programName}},
			Licenses:  licences,
			Language:  "go",
			CPEs:      []string{},
			PURL:      m.purl(),
		})
	}
	return json.NewEncoder(w).Encode(document)
}
