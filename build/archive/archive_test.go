package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
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
	unpacked, err := Unpack(file, "asset.gz", filepath.Join(dir, "a/b/out"), strip)
	entries, _ := os.ReadDir(dir)
	if len(entries) > 2 {
		t.Errorf("it wrote outside of its folder: %v", entries)
	}
	for _, above := range []string{"a", "a/b"} {
		if entries, _ := os.ReadDir(filepath.Join(dir, above)); len(entries) > 1 {
			t.Errorf("it wrote outside of its folder: %v", entries)
		}
	}
	return filepath.Join(dir, "a/b/out"), unpacked.Files, err
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
		`within "d", which is not a folder`:  {link("d", "e"), {Name: "d/x"}},
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
	if _, _, err := unpackBytes(t, tarred.Bytes(), 0); err == nil ||
		!strings.Contains(err.Error(), "far more than it is") {
		t.Error(err)
	}

	var zipped bytes.Buffer
	writer := zip.NewWriter(&zipped)
	entry, _ := writer.Create("zeros")
	for range 100 {
		entry.Write(zeros)
	}
	writer.Close()
	if _, _, err := unpackBytes(t, zipped.Bytes(), 0); err == nil ||
		!strings.Contains(err.Error(), "far more than it is") {
		t.Error(err)
	}
}

// zipDirectory is a zip without content: its list names one empty file again and again.
func zipDirectory(name string, entries int) []byte {
	header := binary.LittleEndian.AppendUint32(nil, 0x02014b50) // APPNOTE.TXT, 4.3.12
	header = append(header, make([]byte, 42)...)
	binary.LittleEndian.PutUint16(header[28:], uint16(len(name)))
	list := bytes.Repeat(append(header, name...), entries)
	end := binary.LittleEndian.AppendUint32(list, 0x06054b50) // 4.3.16
	end = append(end, make([]byte, 18)...)
	binary.LittleEndian.PutUint16(end[len(list)+10:], uint16(entries))
	binary.LittleEndian.PutUint32(end[len(list)+12:], uint32(len(list)))
	return end
}

// countedReaderAt counts the bytes that were read.
type countedReaderAt struct {
	io.ReaderAt
	read int
}

func (c *countedReaderAt) ReadAt(p []byte, offset int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, offset)
	c.read += n
	return n, err
}

func TestListsOfTooManyEntriesAreRefused(t *testing.T) {
	for want, content := range map[string][]byte{
		"it has more than 100000 entries":           zipDirectory("x", maxEntries+1),
		"its list of entries is longer than 32 MiB": zipDirectory(strings.Repeat("x", 400), maxEntries+1),
	} {
		u, err := newUnpacker(t.TempDir(), 0, int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		defer u.root.Close()
		in := &countedReaderAt{ReaderAt: bytes.NewReader(content)}
		if err := u.zip(in, int64(len(content))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		if in.read > maxDirectory {
			t.Errorf("%s: it read %d of %d bytes", want, in.read, len(content))
		}
	}
}

// A name of many folders is as many entries as it makes.
func TestFoldersThatAreOnlyInNamesAreEntries(t *testing.T) {
	u, err := newUnpacker(t.TempDir(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer u.root.Close()
	for i := range maxEntries - 2 {
		u.made[fmt.Sprint("made/", i)] = ""
	}
	if err := u.file("a/b", 0o644, strings.NewReader("")); err != nil {
		t.Error(err)
	}
	if err := u.file("c/d", 0o644, strings.NewReader("")); !errors.Is(err, errEntries) {
		t.Error(err)
	}
}

// What makes nothing counts too: a folder again.
func TestEntriesThatMakeNothingAreEntries(t *testing.T) {
	u, err := newUnpacker(t.TempDir(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer u.root.Close()
	for i := range maxEntries + 1 {
		switch _, err := u.prepare("./"); {
		case i < maxEntries && err != nil:
			t.Fatalf("entry %d: %v", i, err)
		case i == maxEntries && !errors.Is(err, errEntries):
			t.Error(err)
		}
	}
}

func TestContentOfAZipMayBeLongerThanItsList(t *testing.T) {
	var zipped bytes.Buffer
	writer := zip.NewWriter(&zipped)
	entry, _ := writer.CreateHeader(&zip.FileHeader{Name: "zeros", Method: zip.Store})
	entry.Write(make([]byte, maxDirectory+1))
	writer.Close()
	if _, names, err := unpackBytes(t, zipped.Bytes(), 0); err != nil || len(names) != 1 {
		t.Error(names, err)
	}
}

func TestLinksWithinAndStrippedNames(t *testing.T) {
	content := pack(t, tar.Header{Name: "top/lib/x.so.1"}, tar.Header{
		Typeflag: tar.TypeSymlink, Name: "top/lib/x.so",
		Linkname: "x.so.1",
	},
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

func TestArchivesOfOtherFormatsAreRefused(t *testing.T) {
	t.Parallel()
	notSupported := func(format string) string {
		return "its format is " + format + ", which is not supported (tar, gzip, xz and zip are)"
	}
	for name, c := range map[string]struct{ content, want string }{
		"tool.tar.bz2": {"BZh91AY&SY", notSupported("bzip2")},
		"tool.tar.zst": {"\x28\xb5\x2f\xfd\x04", notSupported("Zstandard")},
		"tool":         {"\x28\xb5\x2f\xfd\x04", notSupported("Zstandard")},
		"tool.7z":      {"7z\xbc\xaf\x27\x1c", notSupported("7-Zip")},
		"tool.rar":     {"Rar!\x1a\x07\x01", notSupported("RAR")},
		"tool.lz":      {"LZIP\x01", notSupported("lzip")},
		"tool.lz4":     {"\x04\x22\x4d\x18", notSupported("LZ4")},
		"tool.Z":       {"\x1f\x9d\x90", notSupported("compress")},
		"tool.lzma":    {"\x5d\x00\x00\x80", notSupported("LZMA")},
		"tool.lzo":     {"\x89LZO\x00", notSupported("lzop")},
		"tool.cab":     {"MSCF\x00", notSupported("cabinet")},
		"tool.xar":     {"xar!\x00", notSupported("xar")},
		"tool.cpio":    {"070701", notSupported("cpio")},
		"crc.cpio":     {"070702", notSupported("cpio")},
		"odc.cpio":     {"070707", notSupported("cpio")},
		"tool.deb":     {"!<arch>\ndebian-binary  ", notSupported("a Debian package")},
		"tool.rpm":     {"\xed\xab\xee\xdb", notSupported("RPM")},
		"tool.tar.gz":  {"<html>", "it is none of tar, gzip, xz and zip, though its name ends in .tar.gz"},
		"Tool.ZIP":     {"", "it is none of tar, gzip, xz and zip, though its name ends in .zip"},
		"libtool.a":    {"!<arch>\n/", ""},
		"tool.txt":     {"text", ""},
		"agent.zip":    {"PK\x03\x04META-INF/MANIFEST.MF", ""},
	} {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		isArchive, err := Is(file, name)
		message := ""
		if err != nil {
			message = strings.TrimPrefix(err.Error(), fmt.Sprintf("unpacking %q: ", name))
		}
		if isArchive || message != c.want {
			t.Errorf("%s: %v, %q, want %q", name, isArchive, message, c.want)
		}
	}
}

// A tar from before POSIX has no magic.
func TestOldTarsAreUnpacked(t *testing.T) {
	t.Parallel()
	header := make([]byte, 1536)
	copy(header, "tool")
	copy(header[100:], "000644 \x00000000 \x00000000 \x0000000000003 00000000000 ")
	sum := 8 * int(' ')
	for _, b := range header[:512] {
		sum += int(b)
	}
	copy(header[148:], fmt.Sprintf("%06o\x00 ", sum))
	copy(header[512:], "abc")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, header, 0o644); err != nil {
		t.Fatal(err)
	}
	isArchive, err := Is(file, "tool.tar")
	if !isArchive || err != nil {
		t.Fatal(isArchive, err)
	}
	content, err := Unpack(file, "tool.tar", t.TempDir(), 0)
	if err != nil || len(content.Files) != 1 || content.Files[0] != "tool" {
		t.Errorf("it holds %v, %v", content, err)
	}
}

func TestNothingIsNoContent(t *testing.T) {
	t.Parallel()
	for strip, want := range map[int]string{
		0: "",
		2: `unpacking "asset.gz": strip_components = 2 leaves nothing of it: its names have no more parts`,
	} {
		_, _, err := unpackBytes(t, pack(t, tar.Header{Name: "a/b"}), strip)
		if message := fmt.Sprint(err); message != want && (err != nil || want != "") {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
	folder := pack(t, tar.Header{Name: "a/", Typeflag: tar.TypeDir})
	if _, _, err := unpackBytes(t, folder, 0); err == nil || err.Error() != `unpacking "asset.gz": it holds no files` {
		t.Errorf("the error is %v", err)
	}
}
