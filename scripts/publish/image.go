package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// annotationPrefix begins the annotations of the OCI image spec.
const annotationPrefix = "org.opencontainers.image."

// fileTime is the time of files in pack's buildpacks, of the programs, and of images without a checkout of git.
var fileTime = time.Date(1980, time.January, 1, 0, 0, 1, 0, time.UTC)

type platformImage struct {
	v1.Image
	platform v1.Platform
	sboms    []sbom
}

// Descriptor describes the image in an index. By default go-containerregistry would call the image an artifact.
func (p platformImage) Descriptor() (*v1.Descriptor, error) {
	mediaType, err := p.MediaType()
	if err != nil {
		return nil, err
	}
	digest, err := p.Digest()
	if err != nil {
		return nil, err
	}
	size, err := p.Size()
	return &v1.Descriptor{MediaType: mediaType, Digest: digest, Size: size, Platform: &p.platform}, err
}

// newImage makes an image of one gzipped layer, in the formats of OCI, which have annotations. Labels of the
// configuration that the OCI image spec defines become annotations too: registries and scanners read annotations, while
// Docker shows labels.
func newImage(layer v1.Layer, config v1.Config, platform v1.Platform) (platformImage, error) {
	created, err := time.Parse(time.RFC3339, config.Labels[annotationPrefix+"created"])
	if err != nil {
		created = fileTime
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{
		Layer: layer, MediaType: types.OCILayer,
		History: v1.History{Created: v1.Time{Time: created}, CreatedBy: "scripts/publish.sh"},
	})
	if err != nil {
		return platformImage{}, fmt.Errorf("adding the layer: %w", err)
	}
	file, err := image.ConfigFile()
	if err != nil {
		return platformImage{}, fmt.Errorf("reading the configuration: %w", err)
	}
	file.OS, file.Architecture, file.Variant = platform.OS, platform.Architecture, platform.Variant
	file.Created = v1.Time{Time: created}
	file.Config = config
	if image, err = mutate.ConfigFile(image, file); err != nil {
		return platformImage{}, fmt.Errorf("writing the configuration: %w", err)
	}
	annotations := map[string]string{}
	for key, value := range config.Labels {
		if strings.HasPrefix(key, annotationPrefix) {
			annotations[key] = value
		}
	}
	annotated, ok := mutate.Annotations(image, annotations).(v1.Image)
	if !ok {
		return platformImage{}, errors.New("annotating an image: the result is not an image")
	}
	return platformImage{Image: annotated, platform: platform}, nil
}
