package golang

import (
	"bytes"
	"go/build"
	"io"
	"testing"
)

// A file is built if package go/build says so.
func TestBuildConstraints(t *testing.T) {
	t.Parallel()
	names := []string{
		"a.go", "_a.go", "linux.go", "amd64.go", "a_linux.go", "a_amd64.go", "a_linux_amd64.go", "a_windows.go",
		"a_windows_amd64.go", "a_linux_arm64.go", "a_arm64.go", "a_arm64_linux.go", "a_amd64_darwin.go", "a_windows_b.go",
		"a_unix.go", "a_cgo.go", "a_386.go", "windows_a.go", "_windows.go", "a_windows.b.go", "a.b_windows.go",
		"windows.go", "a_js_wasm.go", "a_wasip1.go", "a__windows.go", "a_Windows.go", "a_windows_.go",
	}
	texts := []string{"package a\n", "// +build windows\npackage a\n"}
	for _, tag := range append([]string{
		"linux", "unix", "amd64", "cgo", "gc", "gccgo", "windows", "darwin", "arm64", "ignore", "tools", "wireinject",
		"go1.0", "go1.01", "go1.", "go2.1", "go1.21.1", "boringcrypto",
	}, build.Default.ReleaseTags...) {
		texts = append(texts,
			"//go:build "+tag+"\n\npackage a\n", "//go:build !"+tag+"\npackage a\n", "// +build "+tag+"\n\npackage a\n",
			"// License.\n\n// +build !"+tag+"\n\n// Package a.\npackage a\n")
	}
	for _, constraint := range []string{
		"//go:build linux && !cgo || (amd64 && go1.18)\n", "//go:build (\n", "//go:build linux\n//go:build linux\n",
		"//go:build windows\n// +build linux\n", "//go:build linux\n// +build windows\n", "//+build windows\n",
		"// +build linux,!cgo amd64\n// +build go1.1\n", "// +build linux\n// +build windows\n", "// +build (\n",
		"/*\n//go:build windows\n*/\n", "/* License. */\n\n//go:build windows\n", "  //go:build windows\n",
		"//go:build\n", "//go:buildwindows\n", "// go:build windows\n", "\ufeff//go:build windows\r\n",
		"// +build windows\n// License.\n", "// License.\n// +build windows\n",
	} {
		texts = append(texts, constraint+"\npackage a\n", constraint+"package a\n",
			"package a\n"+constraint, "package a "+constraint)
	}
	for _, name := range names {
		for _, text := range texts {
			linux := build.Default
			linux.GOOS, linux.GOARCH, linux.CgoEnabled = "linux", "amd64", true
			linux.OpenFile = func(string) (io.ReadCloser, error) {
				return io.NopCloser(bytes.NewReader([]byte(text))), nil
			}
			want, err := linux.MatchFile("", name)
			want = want && err == nil
			if got := isBuilt(name, []byte(text)); got != want {
				t.Errorf("isBuilt(%q, %q) = %v, want %v", name, text, got, want)
			}
		}
	}
}
