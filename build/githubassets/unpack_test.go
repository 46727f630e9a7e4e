package githubassets

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The user of the app reads what the user of the build has installed, whose umask may forbid that.
func TestFoldersAreForAllUsers(t *testing.T) { //nolint:paralleltest // the umask is the process's
	dir := t.TempDir()
	defer syscall.Umask(syscall.Umask(0o077))
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := makeFolders(root, "a/b"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "a/b"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: %v, error %v", name, info.Mode(), err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "c"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := makeFolders(root, "c/d"); err == nil || err.Error() != `"c" exists and is not a folder` {
		t.Errorf("a folder in a file: %v", err)
	}
}
