package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/internal/golden"
)

const changelog = `# Changelog

All changes.

## 0.2.0 (unreleased)

- Something new.
- Something else.

## 0.1.0 (2026-01-02)

- The first.
`

var today = time.Date(2026, time.November, 22, 23, 59, 0, 0, time.UTC)

// put writes files into a folder.
func put(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		file := filepath.Join(folder, name)
		err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, names ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(names...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func wantText(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %q, want %q", what, got, want)
	}
}

// An archive is the same whatever the umask, the owner and the times of the files are.
func TestArchivesAreReproducible(t *testing.T) {
	t.Parallel()
	var archives []string
	for i, mode := range []os.FileMode{0o700, 0o755} {
		folder := filepath.Join(t.TempDir(), "folder")
		put(t, folder, map[string]string{
			"bin/main": "program", "bin.toml": "x", "a/" + strings.Repeat("long/", 30) + "file": "y",
		})
		err := errors.Join(
			os.Chmod(filepath.Join(folder, "bin/main"), mode), os.Chmod(filepath.Join(folder, "bin"), mode),
			os.Chmod(filepath.Join(folder, "bin.toml"), mode&^0o111),
			os.Symlink("main", filepath.Join(folder, "bin/detect")),
			os.Chtimes(filepath.Join(folder, "bin.toml"), today, today.AddDate(i, 0, 0)))
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "archive.tgz")
		if err := run([]string{"archive", folder, file}); err != nil {
			t.Fatal(err)
		}
		archives = append(archives, read(t, file))
		if i == 0 {
			wantText(t, "the list", strings.ReplaceAll(list(t, file), "long/", ""), `a/ 755 
a/file 644 
bin/ 755 
bin/detect 777 main
bin/main 755 
bin.toml 644 
`)
		}
	}
	if archives[0] != archives[1] {
		t.Error("two archives of the same files differ")
	}
}

// list lists an archive, except the folders in its folder a.
func list(t *testing.T, name string) string {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	compressed, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for archive := tar.NewReader(compressed); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if !header.ModTime.Equal(packTime) || header.Uid != 0 || header.Uname != "" ||
			header.Format != tar.FormatUSTAR {
			t.Errorf("%s has a time, an owner or another format: %v", header.Name, header)
		}
		if !strings.HasSuffix(header.Name, "long/") {
			fmt.Fprintf(&text, "%s %o %s\n", header.Name, header.Mode, header.Linkname)
		}
	}
}

// Of the product's own files a version is prepared twice, with the same result, and all that names one names it.
func TestPrepare(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	copyRepository(t, root)
	readme := unreleased.ReplaceAllString(read(t, root, "README.md"), "")
	put(t, root, map[string]string{
		"README.md": "<!-- unreleased -->\nNothing is published yet.\n<!-- /unreleased -->\n\n" + readme,
		"docs/registry.md": "ghcr.io/grpc-cnb/health-probe:0.0.9 ghcr.io/grpc-cnb/grpc-health-probe:0.0.9@sha256:abc " +
			"urn:cnb:registry:grpc-cnb/health-probe@0.0.9 grpc-ecosystem/grpc-health-probe:v0.4.56 " +
			"ghcr.io/grpc-cnb/kubectl-grpc_probes:0.0.9\n",
	})
	before, err := readVersion(root)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := prepare(root, "12.0.0-rc.1", today); err != nil {
			t.Fatal(err)
		}
		wantText(t, "README.md", read(t, root, "README.md"), ownVersion.ReplaceAllString(readme, "${1}12.0.0-rc.1"))
		wantText(t, "docs/registry.md", read(t, root, "docs/registry.md"), "ghcr.io/grpc-cnb/health-probe:12.0.0-rc.1 "+
			"ghcr.io/grpc-cnb/grpc-health-probe:12.0.0-rc.1@sha256:abc "+
			"urn:cnb:registry:grpc-cnb/health-probe@12.0.0-rc.1 grpc-ecosystem/grpc-health-probe:v0.4.56 "+
			"ghcr.io/grpc-cnb/kubectl-grpc_probes:12.0.0-rc.1\n")
		if !strings.Contains(read(t, root, "CHANGELOG.md"), "\n## 12.0.0-rc.1 (2026-11-22)\n") {
			t.Error("the changelog has no section with the version and the date")
		}
	}
	after, err := readVersion(root)
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, "the version", after, "12.0.0-rc.1")
	names, err := texts(root)
	if err != nil {
		t.Fatal(err)
	}
	old := regexp.MustCompile(`health-probe(:|@|"\s+version = ")` + regexp.QuoteMeta(before))
	for _, name := range names {
		if old.MatchString(read(t, root, name)) {
			t.Errorf("%s still names %s", name, before)
		}
	}
}

// copyRepository copies the files of the repository that may name a version.
func copyRepository(t *testing.T, root string) {
	t.Helper()
	names, err := texts("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 20 {
		t.Fatalf("there are only %d documents and examples", len(names))
	}
	for _, name := range append(names, "buildpack.toml") {
		put(t, root, map[string]string{name: read(t, "../..", name)})
	}
	version, err := readVersion("../..")
	if err != nil {
		t.Fatal(err)
	}
	put(t, root, map[string]string{"CHANGELOG.md": strings.ReplaceAll(changelog, "0.2.0", version)})
}

// What is missing is said, and nothing is changed.
func TestPrepareRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ version, changelog, want string }{
		"no version":  {"1.2", changelog, "not a semantic version"},
		"a tag":       {"v1.2.3", changelog, "not a semantic version"},
		"no section":  {"0.3.0", strings.ReplaceAll(changelog, "0.2.0 (unr", "0.2.0 (not unr"), "has no section"},
		"no new text": {"0.4.0", "# Changelog\n", "has no section"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			descriptor := "[buildpack]\nversion = \"0.2.0\"\n"
			put(t, root, map[string]string{"buildpack.toml": descriptor, "CHANGELOG.md": test.changelog})
			if err := prepare(root, test.version, today); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
			wantText(t, "buildpack.toml", read(t, root, "buildpack.toml"), descriptor)
		})
	}
}

// The notes of a release begin with how to get and to verify it; then they have what the changelog says, and the
// digests of what there is.
func TestNotes(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	digest := "sha256:" + strings.Repeat("0123456789abcdef", 4)
	put(t, root, map[string]string{
		"buildpack.toml": "[buildpack]\nversion = \"0.2.0\"\n", "CHANGELOG.md": changelog,
		"release/grpc_health_probe-linux-amd64": "probe", "release/health-probe-linux-amd64.cnb": "package",
		"release/kubectl-grpc_probes-linux-amd64.tgz":   "plugin",
		"release/kubectl-grpc_probes-windows-arm64.tgz": "other",
	})
	folder := filepath.Join(root, "release")
	for i, name := range []string{"files.golden", "published.golden"} {
		if i == 1 {
			put(t, root, map[string]string{
				buildpackDigest: "ghcr.io/grpc-cnb/health-probe:0.2.0@" + digest + "\n",
				probeDigest:     "ghcr.io/grpc-cnb/grpc-health-probe:0.2.0@" + digest + "\n",
				pluginDigest:    "ghcr.io/grpc-cnb/kubectl-grpc_probes:0.2.0@" + digest + "\n",
			})
		}
		err := errors.Join(writeKrew(root, folder), writeChecksums(folder), writeNotes(root, folder))
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, filepath.Join("testdata", name), read(t, folder, notesName))
	}
	golden.Check(t, "testdata/krew.golden", read(t, folder, krewName))
	check := exec.CommandContext(t.Context(), "sha256sum", "--check", checksumsName)
	check.Dir = folder
	if output, err := check.CombinedOutput(); err != nil {
		t.Errorf("sha256sum does not take the checksums: %v\n%s", err, output)
	}
}

// Digests of images that are not those of the version must not get into notes.
func TestNotesRefuseOtherImages(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"ghcr.io/grpc-cnb/health-probe:0.1.0@sha256:" + strings.Repeat("0", 64),
		"ghcr.io/grpc-cnb/health-probe:0.2.0", "",
	} {
		root := t.TempDir()
		put(t, root, map[string]string{buildpackDigest: text})
		_, _, err := imageNotes(root, "0.2.0")
		if err == nil || !strings.Contains(err.Error(), "run scripts/publish.sh") {
			t.Errorf("of %q the error is %v", text, err)
		}
	}
}
