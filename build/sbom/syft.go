package sbom

import (
	"cmp"
	"encoding/json"
	"io"
)

// object is an object of JSON. The types in libpak lack the lower-case names that Syft's schema demands.
type object = map[string]any

type syftDocument struct{ artifacts, files, assets []object }

// encodeSyft writes the part of Syft's JSON schema 1.1.0 that Syft and Grype read: an artifact for each component with
// a package URL, a file for each with a digest. The schema has no place for the origin of a program or assets, so the
// descriptor's configuration has the origin.
func encodeSyft(w io.Writer, content Component) error {
	document := syftDocument{artifacts: []object{}, files: []object{}}
	document.add(number(content), content.Name)
	origin := object{}
	if content.Source != "" {
		origin["source"] = content.Source
	}
	if content.Origin != "" {
		origin["url"] = content.Origin
	} else if document.assets != nil {
		origin["assets"] = document.assets
	}
	return json.NewEncoder(w).Encode(object{
		"artifacts":  document.artifacts,
		"files":      document.files,
		"source":     object{"type": "file", "target": content.Name},
		"descriptor": object{"name": toolName, "version": "", "configuration": origin},
		"schema": object{
			"version": "1.1.0",
			"url":     "https://raw.githubusercontent.com/anchore/syft/main/schema/json/schema-1.1.0.json",
		},
	})
}

// add adds a component in file, and all components below.
func (d *syftDocument) add(c numbered, file string) {
	if c.SHA256 != "" {
		file = c.Name
		d.files = append(d.files, object{
			"id": c.id, "location": object{"path": file},
			"digests": []object{{"algorithm": "sha256", "value": c.SHA256}},
		})
	}
	if c.Origin != "" {
		d.assets = append(d.assets, object{"name": c.Name, "url": c.Origin})
	}
	if c.PURL != "" {
		artifact := object{
			"id": c.id, "name": cmp.Or(c.Module, c.Name), "version": c.Version, "type": "binary", "foundBy": toolName,
			"locations": []object{{"path": file}}, "licenses": []string{}, "language": "", "cpes": []string{},
			"purl": c.PURL,
		}
		if c.Module != "" {
			artifact["type"], artifact["foundBy"], artifact["language"] = "go-module", "go-buildinfo", "go"
		}
		if c.Licence != "" {
			artifact["licenses"] = []string{c.Licence}
		}
		d.artifacts = append(d.artifacts, artifact)
	}
	for _, part := range c.parts {
		d.add(part, file)
	}
}
