package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func pack(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipper := gzip.NewWriter(&packed)
	writer := tar.NewWriter(zipper)
	for _, header := range headers {
		if header.Typeflag == 0 {
			header.Typeflag, header.Size = tar.TypeReg, 3
		}
		header.Mode = 0o644
		if err := writer.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			io.WriteString(writer, "abc")
		}
	}
	writer.Close()
	zipper.Close()
	return packed.Bytes()
}

func unpackBytes(t testing.TB, content []byte, strip int) (string, []string, error) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "packed")
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
	names, err := Unpack(file, "asset.gz", filepath.Join(dir, "a/b/out"), strip)
	entries, _ := os.ReadDir(dir)
	if len(entries) > 2 {
		t.Errorf("it wrote outside of its folder: %v", entries)
	}
	for _, above := range []string{"a", "a/b"} {
		if entries, _ := os.ReadDir(filepath.Join(dir, above)); len(entries) > 1 {
			t.Errorf("it wrote outside of its folder: %v", entries)
		}
	}
	return filepath.Join(dir, "a/b/out"), names, err
}

func TestHostileArchivesAreRefused(t *testing.T) {
	link := func(name, to string) tar.Header {
		return tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to}
	}
	for want, headers := range map[string][]tar.Header{
		`"../x", whose name leads out`:       {{Name: "../x"}},
		`"a/../../x", whose name leads out`:  {{Name: "a/../../x"}},
		`"/etc/x", whose name leads out`:     {{Name: "/etc/x"}},
		`"a\\\\x", whose name leads out`:     {{Name: "a\\x"}},
		`a name of 203 bytes in 101 folders`: {{Name: strings.Repeat("a/", 101) + "x"}},
		`a name of 4097 bytes in 16 folders`: {{Name: strings.Repeat(strings.Repeat("a", 255)+"/", 16) + "x"}},
		`a link to "/etc/passwd"`:            {link("x", "/etc/passwd")},
		`a link to "../x"`:                   {link("x", "../x")},
		`a link to "d/../../x"`:              {link("x", "d/../../x")},
		`within "d", which is no folder`:     {link("d", "e"), {Name: "d/x"}},
		`type '1'`:                           {{Name: "x"}, {Typeflag: tar.TypeLink, Name: "y", Linkname: "x"}},
		`type '3'`:                           {{Typeflag: tar.TypeChar, Name: "x"}},
		`type '6'`:                           {{Typeflag: tar.TypeFifo, Name: "x"}},
		`both "x" and "x"`:                   {{Name: "x"}, {Name: "./x"}},
		`both "Read" and "read"`:             {{Name: "Read"}, {Name: "read"}},
		`both "D" and "d"`:                   {{Name: "D/x"}, {Name: "d/y"}},
	} {
		want = strings.ReplaceAll(want, `\\\\`, `\\`)
		_, _, err := unpackBytes(t, pack(t, headers...), 0)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestBombsAreRefused(t *testing.T) {
	var tarred bytes.Buffer
	zipper := gzip.NewWriter(&tarred)
	zeros := make([]byte, 1<<20)
	for range 100 {
		zipper.Write(zeros)
	}
	zipper.Close()
	if _, _, err := unpackBytes(t, tarred.Bytes(), 0); err == nil || !strings.Contains(err.Error(), "far more than it is") {
		t.Error(err)
	}

	var zipped bytes.Buffer
	writer := zip.NewWriter(&zipped)
	entry, _ := writer.Create("zeros")
	for range 100 {
		entry.Write(zeros)
	}
	writer.Close()
	if _, _, err := unpackBytes(t, zipped.Bytes(), 0); err == nil || !strings.Contains(err.Error(), "far more than it is") {
		t.Error(err)
	}
}

func TestLinksWithinAndStrippedNames(t *testing.T) {
	content := pack(t, tar.Header{Name: "top/lib/x.so.1"}, tar.Header{Typeflag: tar.TypeSymlink, Name: "top/lib/x.so", Linkname: "x.so.1"},
		tar.Header{Typeflag: tar.TypeSymlink, Name: "top/bin/x", Linkname: "../lib/x.so"}, tar.Header{Name: "README"})
	dir, names, err := unpackBytes(t, content, 1)
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "bin/x")); err != nil || string(text) != "abc" {
		t.Error(string(text), err)
	}
}

// FuzzUnpack looks for archives that make Unpack panic or write outside of its folder.
func FuzzUnpack(f *testing.F) {
	f.Add(pack(f, tar.Header{Name: "a/x"}, tar.Header{Typeflag: tar.TypeSymlink, Name: "a/y", Linkname: "../a/x"}), 1)
	f.Add([]byte("PK\x03\x04"), 0)
	f.Add([]byte("\xfd7zXZ\x00"), 0)
	f.Fuzz(func(t *testing.T, content []byte, strip int) {
		unpackBytes(t, content, strip&3)
	})
}
