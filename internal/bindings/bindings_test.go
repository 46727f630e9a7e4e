package bindings

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Each case has one file in a platform's folder. want is the error.
func TestCheck(t *testing.T) {
	write := func(content string) func(t *testing.T, file string) {
		return func(t *testing.T, file string) {
			t.Helper()
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	link := func(to string) func(t *testing.T, file string) {
		return func(t *testing.T, file string) {
			t.Helper()
			if err := os.Symlink(to, file); err != nil {
				t.Fatal(err)
			}
		}
	}
	pipe := func(t *testing.T, file string) {
		t.Helper()
		if err := syscall.Mkfifo(file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		file string
		make func(t *testing.T, file string)
		want string
	}{
		"a binding":               {"bindings/github/token", write("secret"), ""},
		"as large as it may be":   {"bindings/github/token", write(strings.Repeat("a", 1000)), ""},
		"too large":               {"bindings/github/token", write(strings.Repeat("a", 1001)), "there are more than"},
		"a variable":              {"env/BP_LOG_LEVEL", write("DEBUG"), ""},
		"a link":                  {"bindings/github/token", link("/etc/hostname"), ""},
		"a broken link":           {"bindings/github/token", link("/gone"), ""},
		"a folder":                {"bindings/github/token", link("/etc"), ""},
		"a pipe":                  {"bindings/github/token", pipe, "no regular file"},
		"a pipe of a variable":    {"env/BP_LOG_LEVEL", pipe, "no regular file"},
		"a device":                {"bindings/github/token", link("/dev/zero"), "no regular file"},
		"a file without a folder": {"bindings/token", write("secret"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, hasRoot := range []bool{false, true} {
				platform := t.TempDir()
				file := filepath.Join(platform, c.file)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				c.make(t, file)
				t.Setenv("CNB_PLATFORM_DIR", platform)
				t.Setenv("SERVICE_BINDING_ROOT", "")
				if hasRoot {
					t.Setenv("SERVICE_BINDING_ROOT", filepath.Join(platform, "bindings"))
				}
				err := check(1000)
				if c.want == "" && err != nil {
					t.Error(err)
				}
				if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) ||
					!strings.Contains(err.Error(), file)) {
					t.Errorf("the error is %v, want %q", err, c.want)
				}
			}
		})
	}
}

// A disk that hangs must not hang the build.
func TestCheckEndsInTime(t *testing.T) {
	hangs := func() error { <-t.Context().Done(); return nil }
	if err := inTime(hangs, time.Millisecond); err == nil || !strings.Contains(err.Error(), "it took longer than 1ms") {
		t.Errorf("the error is %v", err)
	}
}
