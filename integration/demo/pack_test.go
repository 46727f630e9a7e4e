package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPackOnPath asks programs that are pack except the version that they were given when they were linked.
func TestPackOnPath(t *testing.T) {
	for version, test := range map[string]struct {
		isUsed bool
		why    string
	}{
		"0.38.2+git-f6ec41e.build-6608": {true, "with pack 0.38.2+git-f6ec41e.build-6608 from the PATH ("},
		"0.9.0":                         {false, `is version "0.9.0", and the demo needs 0.38.2 or newer`},
		"devel":                         {false, `is version "devel"`},
	} {
		t.Run(version, func(t *testing.T) {
			folder := t.TempDir()
			program := filepath.Join(folder, "pack")
			link := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", program, "-ldflags",
				"-s -w -X github.com/buildpacks/pack/pkg/client.Version="+version, "github.com/buildpacks/pack")
			link.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := link.CombinedOutput(); err != nil {
				t.Fatalf("compiling pack: %v\n%s", err, out)
			}
			t.Setenv("PATH", folder)
			wantPack(t, map[bool]string{true: program}[test.isUsed], test.why)
		})
	}
}

func TestNoPackOnPath(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", folder)
	wantPack(t, "", "none is on the PATH")
	if err := os.WriteFile(filepath.Join(folder, "pack"), []byte("no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	wantPack(t, "", "does not say its version")
}

func wantPack(t *testing.T, path, why string) {
	t.Helper()
	gotPath, gotWhy := packOnPath(t.Context())
	if gotPath != path || !strings.Contains(gotWhy, why) {
		t.Errorf("pack is %q, %s; want %q, %s", gotPath, gotWhy, path, why)
	}
}
