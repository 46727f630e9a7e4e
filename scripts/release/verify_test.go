package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a release publishes in these tests.
const (
	buildpackImage = "ghcr.io/grpc-cnb/health-probe"
	probeImage     = "ghcr.io/grpc-cnb/grpc-health-probe"
	pluginImage    = "ghcr.io/grpc-cnb/kubectl-grpc_probes"
	imageDigest    = "@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
	otherDigest    = "@sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n"
)

// forgeries are changes to a release after it was made, and the error for each.
var forgeries = map[string]struct {
	file, content string // of a file that is removed, the content is "-"
	want          string
}{
	"a signature":     {"release/checksums.txt.sigstore.json", "{}", ""},
	"another file":    {"release/a.tgz", "changed", "a.tgz has the digest "},
	"a file more":     {"release/c.tgz", "new", "checksums.txt does not list c.tgz"},
	"a file less":     {"release/b.tgz", "-", "b.tgz: no such file"},
	"no checksums":    {"release/checksums.txt", "-", "checksums.txt: no such file"},
	"no notes":        {"release/notes.md", "-", "notes.md: no such file"},
	"other notes":     {"release/notes.md", "none", "notes.md does not have the lines of checksums.txt"},
	"no image":        {probeDigest, "-", "names no image"},
	"an option":       {buildpackDigest, "-x:0.2.0" + imageDigest, "is not REGISTRY/NAME:X.Y.Z@sha256"},
	"no plugin":       {pluginDigest, "-", "names no image"},
	"another version": {buildpackDigest, buildpackImage + ":0.1.0" + imageDigest, "is not of version 0.2.0"},
	"another registry": {
		probeDigest, "example.com/x:0.2.0" + imageDigest, "example.com/x, and this is about " + probeImage,
	},
	"a file elsewhere": {
		"release/checksums.txt", strings.Repeat("0", 64) + "  ../a.tgz\n",
		"is not the digest of a file in the same folder",
	},
	"the wrong way round": {
		buildpackDigest, probeImage + ":0.2.0" + imageDigest,
		"names the image " + probeImage + ", and this is about " + buildpackImage,
	},
	"another image": {
		buildpackDigest, buildpackImage + ":0.2.0" + otherDigest,
		"notes.md does not have " + buildpackImage + ":0.2.0 with the digest sha256:bbb",
	},
}

// A release that is whole passes. Then each thing is changed that someone could change after it was made.
func TestVerify(t *testing.T) {
	t.Parallel()
	for name, forgery := range forgeries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			put(t, root, map[string]string{
				"buildpack.toml": "[buildpack]\nversion = \"0.2.0\"\n", "CHANGELOG.md": changelog,
				"release/a.tgz": "a", "release/b.tgz": "b",
				buildpackDigest: buildpackImage + ":0.2.0" + imageDigest,
				probeDigest:     probeImage + ":0.2.0" + imageDigest,
				pluginDigest:    pluginImage + ":0.2.0" + imageDigest,
			})
			folder := filepath.Join(root, "release")
			images := []string{buildpackImage, probeImage, pluginImage}
			err := errors.Join(writeChecksums(folder), writeNotes(root, folder), verify(root, folder, images))
			if err != nil {
				t.Fatal(err)
			}
			if forgery.content == "-" {
				err = os.Remove(filepath.Join(root, forgery.file))
			} else {
				put(t, root, map[string]string{forgery.file: forgery.content})
			}
			if err != nil {
				t.Fatal(err)
			}
			err = verify(root, folder, images)
			if forgery.want == "" && err != nil {
				t.Error(err)
			}
			if forgery.want != "" && (err == nil || !strings.Contains(err.Error(), forgery.want)) {
				t.Errorf("the error is %v, want %q", err, forgery.want)
			}
		})
	}
}
