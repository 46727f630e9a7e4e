package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// image is a published image, as scripts/publish.sh names it.
type image struct {
	reference string // REGISTRY/NAME:X.Y.Z
	digest    string // sha256:...
}

// The files that scripts/publish.sh writes: the image of the buildpack, and that of the probe alone.
const (
	buildpackDigest = "dist/publish/health-probe.digest"
	probeDigest     = "dist/publish/grpc-health-probe.digest"
)

var published = regexp.MustCompile(`^([A-Za-z0-9][^\s@]*:[^\s@:/]+)@(sha256:[0-9a-f]{64})\n?$`)

// readImage reads one of these files. It returns false if the image is not published yet, or of another version.
func readImage(root, name, version string) (image, bool, error) {
	text, err := os.ReadFile(filepath.Join(root, name))
	if errors.Is(err, fs.ErrNotExist) {
		return image{}, false, nil
	}
	if err != nil {
		return image{}, false, err
	}
	match := published.FindStringSubmatch(string(text))
	if match == nil {
		return image{}, false, fmt.Errorf("reading %q: %q is not REGISTRY/NAME:X.Y.Z@sha256:...: run scripts/publish.sh",
			name, text)
	}
	if !strings.HasSuffix(match[1], ":"+version) {
		return image{}, false, fmt.Errorf("reading %q: %s is not of version %s: run scripts/publish.sh", name, match[1],
			version)
	}
	return image{match[1], match[2]}, true, nil
}

// name returns the image without its tag.
func (i image) name() string { return i.reference[:strings.LastIndexByte(i.reference, ':')] }
