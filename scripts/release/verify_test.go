package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Of a release that is whole, each thing is changed that someone could change after it was made.
func TestVerify(t *testing.T) {
	t.Parallel()
	const buildpack, probe = "ghcr.io/grpc-cnb/health-probe", "ghcr.io/grpc-cnb/grpc-health-probe"
	digest, other := "@sha256:"+strings.Repeat("a", 64)+"\n", "@sha256:"+strings.Repeat("b", 64)+"\n"
	for name, test := range map[string]struct {
		change func(t *testing.T, root string)
		want   string
	}{
		"nothing": {},
		"a file that is signed too": {
			change: func(t *testing.T, root string) {
				t.Helper()
				put(t, root, map[string]string{"release/checksums.txt.sigstore.json": "{}"})
			},
		},
		"another file": {
			change: func(t *testing.T, root string) {
				t.Helper()
				put(t, root, map[string]string{"release/a.tgz": "changed"})
			},
			want: "a.tgz has the digest ",
		},
		"a file more": {
			change: func(t *testing.T, root string) {
				t.Helper()
				put(t, root, map[string]string{"release/c.tgz": "new"})
			},
			want: "checksums.txt does not list c.tgz",
		},
		"a file less": {
			change: func(t *testing.T, root string) {
				t.Helper()
				if err := os.Remove(filepath.Join(root, "release/b.tgz")); err != nil {
					t.Fatal(err)
				}
			},
			want: "b.tgz: no such file",
		},
		"a file elsewhere": {
			change: func(t *testing.T, root string) {
				t.Helper()
				put(t, root, map[string]string{"release/checksums.txt": strings.Repeat("0", 64) + "  ../a.tgz\n"})
			},
			want: "is no digest of a file in the same folder",
		},
		"notes with other digests": {
			change: func(t *testing.T, root string) {
				t.Helper()
				text := read(t, root, "release/notes.md")
				put(t, root, map[string]string{"release/notes.md": strings.Replace(text, "  a.tgz", "  d.tgz", 1)})
			},
			want: "notes.md does not have the lines of checksums.txt",
		},
		"an image of another registry": {
			change: func(t *testing.T, root string) {
				t.Helper()
				put(t, root, map[string]string{probeDigest: "registry.example.com/grpc-health-probe:0.2.0" + digest})
			},
			want: "names the image registry.example.com/grpc-health-probe, and this is about " + probe,
		},
		"the images the wrong way round": {
			change: func(t *testing.T, root string) {
				t.Helper()
				put(t, root, map[string]string{buildpackDigest: probe + ":0.2.0" + digest})
			},
			want: "names the image " + probe + ", and this is about " + buildpack,
		},
		"an image of another version": {
			change: func(t *testing.T, root string) {
				t.Helper()
				put(t, root, map[string]string{buildpackDigest: buildpack + ":0.1.0" + digest})
			},
			want: "is not of version 0.2.0",
		},
		"another image": {
			change: func(t *testing.T, root string) {
				t.Helper()
				put(t, root, map[string]string{buildpackDigest: buildpack + ":0.2.0" + other})
			},
			want: "notes.md does not have " + buildpack + ":0.2.0 with the digest sha256:bbb",
		},
		"an option": {
			change: func(t *testing.T, root string) {
				t.Helper()
				put(t, root, map[string]string{buildpackDigest: "-health-probe:0.2.0" + digest})
			},
			want: "is no REGISTRY/NAME:X.Y.Z@sha256",
		},
		"no image": {
			change: func(t *testing.T, root string) {
				t.Helper()
				if err := os.Remove(filepath.Join(root, probeDigest)); err != nil {
					t.Fatal(err)
				}
			},
			want: "names no image",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			put(t, root, map[string]string{
				"buildpack.toml": "[buildpack]\nversion = \"0.2.0\"\n", "CHANGELOG.md": changelog,
				"release/a.tgz": "a", "release/b.tgz": "b",
				buildpackDigest: buildpack + ":0.2.0" + digest, probeDigest: probe + ":0.2.0" + digest,
			})
			folder := filepath.Join(root, "release")
			if err := errors.Join(writeChecksums(folder), writeNotes(root, folder)); err != nil {
				t.Fatal(err)
			}
			if test.change != nil {
				test.change(t, root)
			}
			err := verify(root, folder, buildpack, probe)
			if test.want == "" && err != nil {
				t.Error(err)
			}
			if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
}
