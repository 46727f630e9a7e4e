package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	transporterror "github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// release is the content of a version.
type release struct {
	images []platformImage
}

// repository is the target of a release: NAME in a registry, with the user's login of Docker's configuration.
type repository struct {
	name.Repository
	options []remote.Option
	out     io.Writer // gets the progress
}

func newRepository(ctx context.Context, text string, out io.Writer) (repository, error) {
	named, err := name.NewRepository(text, name.StrictValidation)
	if err != nil {
		return repository{}, fmt.Errorf("reading the repository %q: %w: it is REGISTRY/NAME, without a tag", text, err)
	}
	return repository{named, []remote.Option{
		remote.WithContext(ctx), remote.WithTransport(transport()), remote.WithAuthFromKeychain(authn.DefaultKeychain),
	}, out}, nil
}

// published is a release in its repository.
type published struct {
	name.Digest
	version string
}

// publish pushes everything by digest before the first tag, and sets X.Y.Z before the moving tags. So a tag never
// points to an incomplete index, wherever a registry fails, and the next run continues after the failure.
func (r repository) publish(release release, force bool) (published, error) {
	index, version, err := release.index()
	if err != nil {
		return published{}, err
	}
	digest, err := index.Digest()
	if err != nil {
		return published{}, err
	}
	if err := r.checkPublished(version, digest, force); err != nil {
		return published{}, err
	}
	fmt.Fprintf(r.out, "pushing %s:%s\n", r, version)
	if err := r.push(index, r.Digest(digest.String())); err != nil {
		return published{}, err
	}
	if err := r.pushSBOMs(release); err != nil {
		return published{}, err
	}
	tags, err := r.tag(index, version)
	if err != nil {
		return published{}, err
	}
	fmt.Fprintf(r.out, "published %s:%s\n", r, version)
	fmt.Fprintf(r.out, "  %-14s %s\n", "index", digest)
	for _, image := range release.images {
		child, err := image.Digest()
		if err != nil {
			return published{}, err
		}
		fmt.Fprintf(r.out, "  %-14s %s\n", image.platform, child)
	}
	fmt.Fprintf(r.out, "  %-14s %s\n", "tags", strings.Join(tags, ", "))
	return published{r.Digest(digest.String()), version}, nil
}

// index returns the release as an index, with the common annotations of the images, and the version.
func (release release) index() (v1.ImageIndex, string, error) {
	var shared map[string]string
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, image := range release.images {
		manifest, err := image.Manifest()
		if err != nil {
			return nil, "", err
		}
		if shared == nil {
			shared = maps.Clone(manifest.Annotations)
		}
		maps.DeleteFunc(shared, func(key, value string) bool { return manifest.Annotations[key] != value })
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image})
	}
	version := shared[annotationPrefix+"version"]
	if err := checkVersion(version); err != nil {
		return nil, "", fmt.Errorf("reading the label %q of the images: %w", annotationPrefix+"version", err)
	}
	annotated, ok := mutate.Annotations(index, shared).(v1.ImageIndex)
	if !ok {
		return nil, "", errors.New("annotating the index: the result is not an index")
	}
	return annotated, version, nil
}

// checkPublished refuses new content for a published version, unless forced.
func (r repository) checkPublished(version string, digest v1.Hash, force bool) error {
	there, err := remote.Head(r.Tag(version), r.options...)
	switch {
	case isMissing(err):
		return nil
	case err != nil:
		return fmt.Errorf("looking for %s:%s: %w", r, version, r.explain(err))
	case there.Digest == digest:
		fmt.Fprintf(r.out, "%s:%s is published already, with this digest: doing what is left\n", r, version)
		return nil
	case force:
		fmt.Fprintf(r.out, "replacing %s:%s, which was %s\n", r, version, there.Digest)
		return nil
	}
	return fmt.Errorf("publishing %s:%s: it is published with another digest, %s, and this would be %s: raise the "+
		"version in buildpack.toml, or replace what others use with --force", r, version, there.Digest, digest)
}

// push pushes an index and the images by digest, and reports the progress.
func (r repository) push(index v1.ImageIndex, to name.Digest) error {
	updates := make(chan v1.Update, 100)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.report(updates)
	}()
	err := remote.WriteIndex(to, index, append(r.options, remote.WithProgress(updates))...)
	<-done
	if err != nil {
		return fmt.Errorf("pushing to %q: %w", r, r.explain(err))
	}
	return nil
}

// report prints the progress now and then, until there are no more updates.
func (r repository) report(updates <-chan v1.Update) {
	const pause, megabyte = 5 * time.Second, 1e6
	next := time.Now().Add(pause)
	for update := range updates {
		if update.Error == nil && time.Now().After(next) {
			next = time.Now().Add(pause)
			fmt.Fprintf(r.out, "  %.1f of %.1f MB\n", float64(update.Complete)/megabyte, float64(update.Total)/megabyte)
		}
	}
}

// tag sets the tags of a completely pushed index.
func (r repository) tag(index v1.ImageIndex, version string) ([]string, error) {
	there, err := remote.List(r.Repository, r.options...)
	if err != nil && !isMissing(err) {
		return nil, fmt.Errorf("listing the tags of %q: %w", r, r.explain(err))
	}
	move, keep := floatingTags(version, there)
	tags := append([]string{version}, move...)
	for _, tag := range tags {
		if err := remote.Tag(r.Tag(tag), index, r.options...); err != nil {
			return nil, fmt.Errorf("setting the tag %s:%s: %w", r, tag, r.explain(err))
		}
	}
	if len(keep) > 0 {
		fmt.Fprintf(r.out, "leaving newer versions the tags %s\n", strings.Join(keep, ", "))
	}
	return tags, nil
}

// isMissing reports whether a registry lacks the requested content.
func isMissing(err error) bool {
	answer, ok := errors.AsType[*transporterror.Error](err)
	return ok && answer.StatusCode == http.StatusNotFound
}

// explain gives advice if the registry does not let the user in.
func (r repository) explain(err error) error {
	answer, ok := errors.AsType[*transporterror.Error](err)
	if ok && (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden) {
		return fmt.Errorf("%w: log in with docker login %s, as a user who may publish there", err, r.RegistryStr())
	}
	return err
}

// pinned is the permanent name of the content, NAME@DIGEST.
func (p published) pinned() string { return p.Digest.String() }

// record writes NAME:VERSION@DIGEST into a file, for the scripts that follow. Until the new record is complete, the
// file keeps the record of the release before.
func (p published) record(file string) error {
	fresh, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".")
	if err != nil {
		return err
	}
	defer os.Remove(fresh.Name())
	_, err = fmt.Fprintf(fresh, "%s:%s@%s\n", p.Context(), p.version, p.DigestStr())
	if err := errors.Join(err, fresh.Chmod(0o644), fresh.Close()); err != nil {
		return fmt.Errorf("writing %q: %w", file, err)
	}
	return os.Rename(fresh.Name(), file)
}
