package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var digest = "sha256:" + strings.Repeat("a", 64)

func TestEntriesAreAdded(t *testing.T) {
	t.Parallel()
	index := t.TempDir()
	const id, image = "grpc-cnb/health-probe", "registry.example.com:5000/x/health-probe"
	add := func(version string) (string, error) {
		var out strings.Builder
		err := writeEntry(id, image+":"+version+"@"+digest, index, &out)
		return out.String(), err
	}
	for _, version := range []string{"0.1.0", "0.2.0", "0.1.0"} {
		if out, err := add(version); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	file := filepath.Join(index, "he/al/grpc-cnb_health-probe")
	const line = `{"ns":"grpc-cnb","name":"health-probe","version":"VERSION","yanked":false,"addr":"` + image + `@`
	want := strings.ReplaceAll(line, "VERSION", "0.1.0") + digest + "\"}\n" +
		strings.ReplaceAll(line, "VERSION", "0.2.0") + digest + "\"}\n"
	if got, err := os.ReadFile(file); string(got) != want {
		t.Errorf("the file is (%v)\n%s, want\n%s", err, got, want)
	}
	err := writeEntry(id, image+":0.1.0@sha256:"+strings.Repeat("b", 64), index, &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), "version 0.1.0 is there with another image") {
		t.Errorf("a version with another image: %v", err)
	}
	if got, err := os.ReadFile(file); string(got) != want {
		t.Errorf("afterwards the file is (%v)\n%s", err, got)
	}
}

func TestEntriesOfWrongImages(t *testing.T) {
	t.Parallel()
	for _, image := range []string{
		"", "x/y:0.1.0@" + digest, "ghcr.io/x/y:0.1.0", "ghcr.io/x/y@" + digest, "ghcr.io/x/y:latest@" + digest,
		"ghcr.io/x/y:0.1.0@sha256:aa",
	} {
		if _, err := newEntry("grpc-cnb/health-probe", image); err == nil || !strings.Contains(err.Error(), "@DIGEST") {
			t.Errorf("%q: %v", image, err)
		}
	}
	for _, id := range []string{"health-probe", "a/b/c"} {
		if _, err := newEntry(id, "ghcr.io/x/y:0.1.0@"+digest); err == nil {
			t.Errorf("the ID %q passes", id)
		}
	}
}

// TestIndexFolders has a name of each length that the index treats differently.
func TestIndexFolders(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a": "1", "go": "2", "jvm": "3/jv", "java": "ja/va", "health-probe": "he/al",
	} {
		if got := filepath.ToSlash(indexFolder(name)); got != want {
			t.Errorf("%q is in %q, want %q", name, got, want)
		}
	}
}
