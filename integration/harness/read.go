package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func (d *Docker) read(ctx context.Context, ref string) (v1.Image, error) {
	if d.partial {
		return d.inspect(ctx, ref)
	}
	folder, err := d.fixture.tempFolder("image")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, "image.tar")
	if _, err := run(d.command(ctx, "docker", "save", "--output", path, ref)); err != nil {
		return nil, err
	}
	image, err := tarball.ImageFromPath(path, nil)
	if err != nil {
		return nil, fmt.Errorf("reading image %q: %w", ref, err)
	}
	return image, nil
}

// partial is an image with only the configuration.
type partial struct{ v1.Image }

// Layers returns an error, so that no test takes the image for an empty image.
func (partial) Layers() ([]v1.Layer, error) {
	return nil, errors.New("the image's files were left in Docker")
}

func (d *Docker) inspect(ctx context.Context, ref string) (v1.Image, error) {
	text, err := run(d.command(ctx, "docker", "image", "inspect", "--format", "{{json .Config}}", ref))
	if err != nil {
		return nil, err
	}
	var config v1.Config
	if err := json.Unmarshal([]byte(text), &config); err != nil {
		return nil, fmt.Errorf("reading the configuration of image %q: %w", ref, err)
	}
	image, err := mutate.Config(empty.Image, config)
	return partial{image}, err
}
