package launch_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/grpc-cnb/health-probe/build/launch"
)

// The digest is that of the names, the modes, the links and the content, wherever the folder is.
func TestDigest(t *testing.T) {
	t.Parallel()
	whole := digestOf(t, func(string) {})
	if other := digestOf(t, func(string) {}); other != whole {
		t.Errorf("the same in another folder has the digest %s, not %s", other, whole)
	}
	for name, change := range map[string]func(dir string) error{
		"content": func(dir string) error { return os.WriteFile(dir+"/bin/tool", []byte("TOOL"), 0o755) },
		"mode":    func(dir string) error { return os.Chmod(dir+"/bin/tool", 0o644) },
		"name":    func(dir string) error { return os.Rename(dir+"/bin", dir+"/sbin") },
		"added":   func(dir string) error { return os.Mkdir(dir+"/lib", 0o755) },
		"removed": func(dir string) error { return os.Remove(dir + "/bin/link") },
		"link":    func(dir string) error { return os.Rename(dir+"/other", dir+"/bin/link") },
	} {
		changed := digestOf(t, func(dir string) {
			if err := change(dir); err != nil {
				t.Fatal(err)
			}
		})
		if changed == whole {
			t.Errorf("another %s is not noticed", name)
		}
	}
	if _, err := launch.Digest(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a folder that is not there has a digest")
	}
}

// digestOf returns the digest of a folder that was changed.
func digestOf(t *testing.T, change func(dir string)) string {
	t.Helper()
	dir := t.TempDir()
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "bin"), 0o755),
		os.WriteFile(filepath.Join(dir, "bin/tool"), []byte("tool"), 0o755),
		os.Symlink("tool", filepath.Join(dir, "bin/link")),
		os.Symlink("bin", filepath.Join(dir, "other")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	change(dir)
	digest, err := launch.Digest(dir)
	if err != nil {
		t.Fatal(err)
	}
	return digest
}
