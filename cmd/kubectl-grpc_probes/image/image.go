// Package image reads the labels of images in any place: the name of an image goes in, and the labels come out.
// Begin with [Reader].
package image

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/daemon"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	_ "golang.org/x/crypto/x509roots/fallback" // registries' authorities, in an image from scratch that has none
)

// maxConfig bounds the configuration of an image, in bytes; maxDepth bounds the nesting of indexes.
const (
	maxConfig = 4 << 20
	maxDepth  = 3
)

// Reader reads images, each image once.
type Reader struct {
	// Platform selects the image in an index; nil selects the machine's platform or, without a match, the first.
	Platform *v1.Platform
	// Daemon says to ask Docker and not a registry.
	Daemon bool
	// Places are the files, folders or names of images with other names in manifests.
	Places map[string]string
	// Timeout bounds the time for an image.
	Timeout time.Duration

	read map[string]result
}

type result struct {
	labels map[string]string
	err    error
}

// Labels returns the labels of an image: of a tarball or an OCI layout, if there is a file or a folder of that name,
// else of an image in a registry or in Docker. The error has a hint.
func (r *Reader) Labels(ctx context.Context, image string) (map[string]string, error) {
	if known, ok := r.read[image]; ok {
		return known.labels, known.err
	}
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	place := image
	if other, ok := r.Places[image]; ok {
		place = other
	}
	config, err := r.config(ctx, place)
	var found result
	switch {
	case err != nil:
		found.err = fmt.Errorf("reading the image %q: %w", place, r.hint(ctx, place, err))
	default:
		found.labels = config.Config.Labels
	}
	if r.read == nil {
		r.read = map[string]result{}
	}
	r.read[image] = found
	return found.labels, found.err
}

func (r *Reader) config(ctx context.Context, place string) (*v1.ConfigFile, error) {
	if info, err := os.Stat(place); err == nil {
		if !info.IsDir() {
			img, err := tarball.ImageFromPath(place, nil)
			return r.configOf(img, err)
		}
		index, err := layout.ImageIndexFromPath(place)
		if err != nil {
			return nil, fmt.Errorf("%w (it is a folder, and no OCI layout: for an app's sources, "+
				"run grpc_health_inspect FOLDER)", err)
		}
		return r.configOf(r.pick(index))
	}
	reference, err := name.ParseReference(place)
	if err != nil {
		return nil, err
	}
	if r.Daemon {
		img, err := daemon.Image(reference, daemon.WithContext(ctx))
		return r.configOf(img, err)
	}
	found, err := remote.Get(reference, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
	if err != nil {
		return nil, err
	}
	if !found.MediaType.IsIndex() {
		img, err := found.Image()
		return r.sized(img, err)
	}
	index, err := found.ImageIndex()
	if err != nil {
		return nil, err
	}
	return r.sized(r.pick(index))
}

// sized returns the configuration of an image in a registry, unless it is too large.
func (r *Reader) sized(img v1.Image, err error) (*v1.ConfigFile, error) {
	if err != nil {
		return nil, err
	}
	manifest, err := img.Manifest()
	if err != nil {
		return nil, err
	}
	if size := manifest.Config.Size; size > maxConfig {
		return nil, fmt.Errorf("its configuration has %d bytes, and no more than %d are read", size, maxConfig)
	}
	return r.configOf(img, nil)
}

// configOf returns the configuration of an image. The image has to be for the platform.
func (r *Reader) configOf(img v1.Image, err error) (*v1.ConfigFile, error) {
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	if is := config.Platform(); r.Platform != nil && is != nil && !is.Satisfies(*r.Platform) {
		return nil, fmt.Errorf("it is for %s, not for %s (set --platform)", is, r.Platform)
	}
	return config, nil
}

// pick returns the image of an index for the platform.
func (r *Reader) pick(index v1.ImageIndex) (v1.Image, error) {
	var images []found
	if err := list(index, maxDepth, &images); err != nil {
		return nil, err
	}
	wanted := v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
	if r.Platform != nil {
		wanted = *r.Platform
	}
	var platforms []string
	for _, i := range images {
		if i.platform == nil || i.platform.Satisfies(wanted) {
			return i.index.Image(i.digest)
		}
		platforms = append(platforms, i.platform.String())
	}
	switch {
	case len(images) == 0:
		return nil, errors.New("there is no image in the index")
	case r.Platform == nil:
		return images[0].index.Image(images[0].digest)
	}
	return nil, fmt.Errorf("there is no image for %s, only for %s (set --platform)", wanted,
		strings.Join(platforms, ", "))
}

// found is an image in an index.
type found struct {
	index    v1.ImageIndex
	digest   v1.Hash
	platform *v1.Platform
}

// list adds the images of an index, except attestations, which have an unknown platform.
func list(index v1.ImageIndex, depth int, images *[]found) error {
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	for _, m := range manifest.Manifests {
		switch {
		case m.MediaType.IsIndex() && depth > 0:
			inner, err := index.ImageIndex(m.Digest)
			if err == nil {
				err = list(inner, depth-1, images)
			}
			if err != nil {
				return err
			}
		case m.MediaType.IsImage() && (m.Platform == nil || m.Platform.OS != "unknown"):
			*images = append(*images, found{index, m.Digest, m.Platform})
		}
	}
	return nil
}

// hint adds to an error what a user can do about it.
func (r *Reader) hint(ctx context.Context, place string, err error) error {
	refused, isRefused := errors.AsType[*transport.Error](err)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("no answer within %v (set --timeout)", r.Timeout)
	case isRefused && (refused.StatusCode == http.StatusUnauthorized || refused.StatusCode == http.StatusForbidden):
		return fmt.Errorf("%w (log in with docker login: the registry does not let you read it, or it is not there)",
			refused)
	case isRefused && refused.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%w (for an image in Docker, add --daemon; for one elsewhere, --image=%s=PLACE)", refused,
			place)
	}
	return err
}
