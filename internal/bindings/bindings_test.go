package bindings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// write, link and pipe make the files of the cases.
func write(size int) func(string) error {
	return func(file string) error { return os.WriteFile(file, make([]byte, size), 0o600) }
}

func link(to string) func(string) error {
	return func(file string) error { return os.Symlink(to, file) }
}

func pipe(file string) error { return syscall.Mkfifo(file, 0o600) }

// Each case has one file in a platform's folder. want is the error.
func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		make func(file string) error
		want string
	}{
		"a binding":               {"bindings/github/token", write(6), ""},
		"as large as it may be":   {"bindings/github/token", write(1000), ""},
		"too large":               {"bindings/github/token", write(1001), "there are more than"},
		"a variable":              {"env/BP_LOG_LEVEL", write(5), ""},
		"a link":                  {"bindings/github/token", link("/etc/hostname"), ""},
		"a broken link":           {"bindings/github/token", link("/gone"), ""},
		"a folder":                {"bindings/github/token", link("/etc"), ""},
		"a pipe":                  {"bindings/github/token", pipe, "not a regular file"},
		"a pipe of a variable":    {"env/BP_LOG_LEVEL", pipe, "not a regular file"},
		"a device":                {"bindings/github/token", link("/dev/zero"), "not a regular file"},
		"a file without a folder": {"bindings/token", write(6), ""},
	} {
		for _, hasRoot := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,%t", name, hasRoot), func(t *testing.T) {
				platform := t.TempDir()
				file := filepath.Join(platform, c.file)
				if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), c.make(file)); err != nil {
					t.Fatal(err)
				}
				t.Setenv("CNB_PLATFORM_DIR", platform)
				t.Setenv("SERVICE_BINDING_ROOT", "")
				if hasRoot {
					t.Setenv("SERVICE_BINDING_ROOT", filepath.Join(platform, "bindings"))
				}
				wantError(t, check(1000), c.want, file)
			})
		}
	}
}

// wantError expects an error with the words, which names the file, or none.
func wantError(t *testing.T, err error, want, file string) {
	t.Helper()
	if want == "" && err != nil {
		t.Error(err)
	}
	if want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file)) {
		t.Errorf("the error is %v, want %q", err, want)
	}
}
