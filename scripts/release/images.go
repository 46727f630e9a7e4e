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

// image is a published image, from the record of scripts/publish.sh.
type image struct {
	reference string // REGISTRY/NAME:X.Y.Z
	digest    string // sha256:...
}

// The records of scripts/publish.sh: the images of the buildpack, of the probe alone, and of the plugin for kubectl.
const (
	buildpackDigest = "dist/publish/health-probe.digest"
	probeDigest     = "dist/publish/grpc-health-probe.digest"
	pluginDigest    = "dist/publish/kubectl-grpc_probes.digest"
)

var published = regexp.MustCompile(`^([A-Za-z0-9][^\s@]*:[^\s@:/]+)@(sha256:[0-9a-f]{64})\n?$`)

// readImage reads a record. It returns false if the image is not published yet, or has another version.
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
		return image{}, false, fmt.Errorf("reading %q: %q is not REGISTRY/NAME:X.Y.Z@sha256:...: "+
			"run scripts/publish.sh", name, text)
	}
	if !strings.HasSuffix(match[1], ":"+version) {
		return image{}, false, fmt.Errorf("reading %q: %s is not of version %s: run scripts/publish.sh", name, match[1],
			version)
	}
	return image{match[1], match[2]}, true, nil
}

// name returns the image's reference without the tag.
func (i image) name() string { return i.reference[:strings.LastIndexByte(i.reference, ':')] }
