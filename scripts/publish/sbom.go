package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

type sbom struct {
	file      string
	mediaType string
	content   []byte
}

// sbomType returns the media type of an SBOM, as registered with IANA, by the end of the file's name.
func sbomType(file string) (mediaType string, ok bool) {
	switch {
	case strings.HasSuffix(file, ".cdx.json"):
		return "application/vnd.cyclonedx+json", true
	case strings.HasSuffix(file, ".spdx.json"):
		return "application/spdx+json", true
	}
	return "", false
}

// readSBOMs reads the SBOMs beside a file, in both formats.
func readSBOMs(file string) (sboms []sbom, err error) {
	for _, end := range []string{".cdx.json", ".spdx.json"} {
		content, err := os.ReadFile(file + end)
		if err != nil {
			return nil, fmt.Errorf("reading the SBOM of %q: %w", file, err)
		}
		mediaType, _ := sbomType(end)
		sboms = append(sboms, sbom{filepath.Base(file) + end, mediaType, content})
	}
	return sboms, nil
}

// pushSBOMs attaches the SBOMs to their images as referrers (OCI distribution spec, Referrers API; in registries
// without that API, by the tag of the spec).
func (r repository) pushSBOMs(release release) error {
	for _, image := range release.images {
		for _, document := range image.sboms {
			artifact, err := document.attachedTo(image)
			if err != nil {
				return fmt.Errorf("attaching %q: %w", document.file, err)
			}
			digest, err := artifact.Digest()
			if err != nil {
				return err
			}
			if err := remote.Write(r.Digest(digest.String()), artifact, r.options...); err != nil {
				return fmt.Errorf("pushing the SBOM %q of %s to %q: %w", document.file, image.platform, r,
					r.explain(err))
			}
		}
	}
	return nil
}

// attachedTo returns the document as an artifact whose subject is an image (OCI image spec, Guidelines for Artifact
// Usage).
func (s sbom) attachedTo(image platformImage) (v1.Image, error) {
	subject, err := image.Descriptor()
	if err != nil {
		return nil, err
	}
	manifest, err := image.Manifest()
	if err != nil {
		return nil, err
	}
	content := static.NewLayer(s.content, types.MediaType(s.mediaType))
	layer, err := partial.Descriptor(content)
	if err != nil {
		return nil, err
	}
	layer.Annotations = map[string]string{annotationPrefix + "title": s.file}
	config, err := partial.Descriptor(static.NewLayer([]byte(emptyConfig), emptyConfigType))
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, ArtifactType: s.mediaType, Config: *config,
		Layers: []v1.Descriptor{*layer}, Annotations: manifest.Annotations,
		Subject: &v1.Descriptor{MediaType: subject.MediaType, Digest: subject.Digest, Size: subject.Size},
	})
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(artifact{raw, content})
}

// The empty configuration of an artifact (OCI image spec, Guidance for an empty descriptor).
const (
	emptyConfig     = "{}"
	emptyConfigType = types.MediaType("application/vnd.oci.empty.v1+json")
)

// artifact is a manifest with one layer and the empty configuration, as go-containerregistry pushes it.
type artifact struct {
	manifest []byte
	layer    v1.Layer
}

// MediaType returns the manifest's media type.
func (artifact) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

// RawConfigFile returns the empty configuration.
func (artifact) RawConfigFile() ([]byte, error) { return []byte(emptyConfig), nil }

// RawManifest returns the manifest.
func (a artifact) RawManifest() ([]byte, error) { return a.manifest, nil }

// LayerByDigest returns the only layer.
func (a artifact) LayerByDigest(v1.Hash) (partial.CompressedLayer, error) { return a.layer, nil }
